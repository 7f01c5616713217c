// SPDX-License-Identifier: MIT
// The functions of libcurl and OpenSSL that this module calls. Enclose the name of a function of libcurl in parentheses
// together with the table, such as `(libcurl.curl_easy_setopt)(…)`, because the headers define macros for some of them.
#pragma once
#include <CDynamicLibrary.h>
#include <curl/curl.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>

#define LIBCURL_FUNCTIONS(X)                                                                                           \
    X(curl_easy_cleanup) X(curl_easy_getinfo) X(curl_easy_init) X(curl_easy_pause) X(curl_easy_reset)                  \
    X(curl_easy_setopt) X(curl_easy_strerror) X(curl_global_init) X(curl_multi_add_handle) X(curl_multi_cleanup)       \
    X(curl_multi_info_read) X(curl_multi_init) X(curl_multi_perform) X(curl_multi_poll) X(curl_multi_remove_handle)    \
    X(curl_multi_setopt) X(curl_multi_wakeup) X(curl_slist_append) X(curl_slist_free_all) X(curl_version)              \
    X(curl_version_info)

WI_LIBRARY_TABLE(libcurl, LIBCURL_FUNCTIONS)

#define LIBSSL_FUNCTIONS(X)                                                                                            \
    X(CRYPTO_get_ex_new_index) X(SSL_CTX_get_ex_data) X(SSL_CTX_set_cert_cb) X(SSL_CTX_set_ex_data)                    \
    X(SSL_CTX_set_info_callback) X(SSL_SESSION_get_ex_data) X(SSL_SESSION_set_ex_data) X(SSL_get0_alpn_selected)       \
    X(SSL_get_SSL_CTX) X(SSL_get_session) X(SSL_has_pending) X(SSL_session_reused)

WI_LIBRARY_TABLE(libssl, LIBSSL_FUNCTIONS)
