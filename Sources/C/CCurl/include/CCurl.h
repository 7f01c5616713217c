// SPDX-License-Identifier: MIT
// libcurl for Swift: typed faces of its variadic functions, and what the network thread needs of Linux.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <curl/curl.h>

typedef size_t (*wi_curl_data_function)(char *bytes, size_t size, size_t count, void *context);

CURLcode wi_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode wi_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode wi_curl_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode wi_curl_set_data_function(CURL *easy, CURLoption option, wi_curl_data_function function);
CURLcode wi_curl_set_open_socket(CURL *easy, curl_opensocket_callback function, void *context);
CURLcode wi_curl_set_close_socket(CURL *easy, curl_closesocket_callback function, void *context);
CURLcode wi_curl_set_before_request(CURL *easy, curl_prereq_callback function, void *context);

/// Allows http and https alone. By their bits: libcurl compares the names of CURLOPT_PROTOCOLS_STR with those of all its
/// protocols, which every transfer would pay for.
CURLcode wi_curl_allow_http(CURL *easy);

CURLcode wi_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode wi_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode wi_curl_get_socket(CURL *easy, curl_socket_t *value);

/// What TLS showed of one connection. It belongs to the network thread.
typedef struct wi_tls_facts {
    /// The last alert of the server but close_notify (RFC 8446 6); -1 if there was none.
    int alert;
    /// Whether the server sent close_notify.
    bool has_ended;
    /// Whether the server requested a certificate.
    bool wants_certificate;
    /// Whether the server chose HTTP/2.
    bool is_http2;
    /// Owners of this struct.
    int users;
} wi_tls_facts;

/// Creates facts with one owner; NULL without memory.
wi_tls_facts *wi_tls_facts_create(void);
/// Takes one owner away; the last one frees the facts. NULL is fine.
void wi_tls_facts_release(wi_tls_facts *facts);
/// Calls `function` for every TLS connection that the transfer opens. Does nothing if libcurl's TLS isn't the OpenSSL
/// that this module was built with.
void wi_curl_set_tls_observer(CURL *easy, curl_ssl_ctx_callback function, void *context);
/// Writes down in `facts` what the connections of an SSL_CTX show. The SSL_CTX becomes an owner of the facts.
void wi_tls_observe(void *context, wi_tls_facts *facts);
/// OpenSSL's object of the TLS connection that the transfer uses right now; NULL if there is none.
void *wi_curl_tls(CURL *easy);
/// Whether bytes that the server sent are in the buffers of the TLS connection that the transfer uses right now.
bool wi_curl_has_unread_bytes(CURL *easy);
/// Sends what libcurl holds back on the HTTP/2 connection that the transfer uses right now: RST_STREAM frames of
/// transfers that were removed. Pausing and resuming is the only way in libcurl 7.88 that sends nothing besides.
void wi_curl_flush(CURL *easy);
/// Milliseconds since bytes came over a TCP socket; -1 if that isn't known.
long wi_socket_idle_milliseconds(int descriptor);

CURLMcode wi_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// The next finished transfer; false where there is none.
bool wi_curl_next_finished(CURLM *multi, CURL **easy, CURLcode *code);

/// curl_multi_poll over the multi's sockets and one descriptor besides, which it watches for reading. True where that
/// one is readable.
bool wi_curl_multi_poll(CURLM *multi, int descriptor, int milliseconds);

/// Makes the socket pair by which libcurl wakes curl_multi_poll close-on-exec.
void wi_curl_multi_close_on_exec(CURLM *multi);

/// 1 where the list of public suffixes holds `domain`, 0 where it does not, -1 where there is no list (no libpsl).
int wi_is_public_suffix(const char *domain);

/// A non-blocking, close-on-exec eventfd; -1 on failure.
int wi_wake_create(void);
/// Makes the descriptor readable. For any thread.
void wi_wake_signal(int descriptor);
/// Makes the descriptor unreadable again.
void wi_wake_clear(int descriptor);

/// Ignores SIGPIPE where it has its default action: a dead TLS peer would end the process.
void wi_ignore_broken_pipes(void);
