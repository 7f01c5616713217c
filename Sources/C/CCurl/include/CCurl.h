// SPDX-License-Identifier: MIT
// Wrappers of libcurl's functions, and the Linux functions that the network thread needs.
//
// libcurl brings about 30 libraries, whose relocation takes most of the start time of a process that finds its images in
// a cache. This module therefore isn't linked to it, and loads it when a program calls wi_curl_load.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <curl/curl.h>

typedef size_t (*wi_curl_data_function)(char *bytes, size_t size, size_t count, void *context);

/// Loads libcurl. Returns NULL, or the reason why it can't be loaded. Call it before the other functions of libcurl. Any
/// thread can call it.
const char *wi_curl_load(void);

CURLcode wi_curl_global_init(void);
const char *wi_curl_version(void);
const curl_version_info_data *wi_curl_version_info(void);

CURL *wi_curl_easy_init(void);
void wi_curl_easy_cleanup(CURL *easy);
void wi_curl_easy_reset(CURL *easy);
/// Ends a pause in both directions.
CURLcode wi_curl_easy_resume(CURL *easy);
/// Returns libcurl's message for an error code.
const char *wi_curl_message(CURLcode code);

struct curl_slist *wi_curl_list_append(struct curl_slist *list, const char *line);
void wi_curl_list_free(struct curl_slist *list);

CURLM *wi_curl_multi_init(void);
void wi_curl_multi_cleanup(CURLM *multi);
CURLMcode wi_curl_multi_add(CURLM *multi, CURL *easy);
void wi_curl_multi_remove(CURLM *multi, CURL *easy);
void wi_curl_multi_perform(CURLM *multi);

CURLcode wi_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode wi_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode wi_curl_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode wi_curl_set_data_function(CURL *easy, CURLoption option, wi_curl_data_function function);
CURLcode wi_curl_set_open_socket(CURL *easy, curl_opensocket_callback function, void *context);
CURLcode wi_curl_set_close_socket(CURL *easy, curl_closesocket_callback function, void *context);
CURLcode wi_curl_set_before_request(CURL *easy, curl_prereq_callback function, void *context);

/// Allows only http and https. It uses the bit mask option, because CURLOPT_PROTOCOLS_STR makes libcurl compare the
/// names with those of all its protocols for each transfer.
CURLcode wi_curl_allow_http(CURL *easy);

CURLcode wi_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode wi_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode wi_curl_get_socket(CURL *easy, curl_socket_t *value);

/// The TLS information about one connection. Only the network thread uses it.
typedef struct wi_tls_facts {
    /// The last alert of the server other than close_notify (RFC 8446 6), or -1 if there was none.
    int alert;
    /// Whether the server sent close_notify.
    bool has_ended;
    /// Whether the server requested a certificate in the handshake, or in that of the resumed session.
    bool wants_certificate;
    /// Whether the server selected HTTP/2.
    bool is_http2;
    /// The number of owners of this struct.
    int users;
} wi_tls_facts;

/// Creates TLS information with one owner. Returns NULL if memory is exhausted.
wi_tls_facts *wi_tls_facts_create(void);
/// Removes one owner. The last owner frees the information. The argument can be NULL.
void wi_tls_facts_release(wi_tls_facts *facts);
/// Calls `function` for each TLS connection that the transfer opens. Does nothing unless libcurl uses OpenSSL with the
/// same major version as the OpenSSL library of this module.
void wi_curl_set_tls_observer(CURL *easy, curl_ssl_ctx_callback function, void *context);
/// Records the events of the connections of an SSL_CTX in `facts`. The SSL_CTX becomes an owner of `facts`.
void wi_tls_observe(void *context, wi_tls_facts *facts);
/// The events of HTTP/2 streams that libcurl reports only as messages.
typedef enum wi_stream_event {
    /// Any other message.
    WI_STREAM_NO_EVENT,
    /// The request has the stream with the number.
    WI_STREAM_BEGAN,
    /// The server processes no stream above the number (GOAWAY).
    WI_STREAM_GOAWAY,
    /// The server refused the request without processing it (REFUSED_STREAM).
    WI_STREAM_REFUSED,
    /// The server requires HTTP/1.1 for the request (HTTP_1_1_REQUIRED).
    WI_STREAM_DOWNGRADED,
    /// The request leaves its connection without a response and is repeated over another one.
    WI_STREAM_ABANDONED,
} wi_stream_event;

/// Calls `function` for the messages of a transfer while CURLOPT_VERBOSE is set.
void wi_curl_set_message_observer(CURL *easy, curl_debug_callback function, void *context);
/// Returns the event that a message (CURLINFO_TEXT) describes. Knows the messages of libcurl 7.88 and 8.
wi_stream_event wi_curl_stream_event(const char *message, size_t length, unsigned int *number);

/// Returns OpenSSL's object for the TLS connection that the transfer currently uses, or NULL if there is none.
void *wi_curl_tls(CURL *easy);
/// Returns whether the TLS connection that the transfer currently uses buffers received data.
bool wi_curl_has_unread_bytes(CURL *easy);
/// Sends the data that libcurl buffers for the HTTP/2 connection that the transfer currently uses, which are
/// RST_STREAM frames of removed transfers. In libcurl 7.88, only pausing and resuming does this without sending
/// anything else.
void wi_curl_flush(CURL *easy);
/// Returns the time since data was received over a TCP socket, in milliseconds, or -1 if it's unknown.
long wi_socket_idle_milliseconds(int descriptor);

CURLMcode wi_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Gets the next finished transfer. Returns `false` if there is none.
bool wi_curl_next_finished(CURLM *multi, CURL **easy, CURLcode *code);

/// Calls curl_multi_poll for the sockets of `multi` and for one more descriptor. Returns `true` if that descriptor is
/// readable.
bool wi_curl_multi_poll(CURLM *multi, int descriptor, int milliseconds);

/// Sets the close-on-exec flag of the socket pair with which libcurl wakes curl_multi_poll.
void wi_curl_multi_close_on_exec(CURLM *multi);

/// Returns 1 if `domain` is a public suffix, 0 if it isn't, and -1 if no list is available (libpsl is missing).
int wi_is_public_suffix(const char *domain);

/// Creates a nonblocking, close-on-exec eventfd. Returns -1 on failure.
int wi_wake_create(void);
/// Makes the descriptor readable. Any thread can call this function.
void wi_wake_signal(int descriptor);
/// Makes the descriptor unreadable again.
void wi_wake_clear(int descriptor);

/// Ignores SIGPIPE if it has its default action, because writing to a closed TLS connection would end the process.
void wi_ignore_broken_pipes(void);
