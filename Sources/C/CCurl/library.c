// SPDX-License-Identifier: MIT
#include "library.h"
#include "CCurl.h"

WI_LIBRARY(libcurl, LIBCURL_FUNCTIONS, "HTTP", "libcurl.so.4")

// Debian's libcurl with GnuTLS has the same interface but another file name.
static wi_library gnutls_variant = {
    "libcurl-gnutls.so.4", libcurl_names, (void **)&libcurl, sizeof libcurl / sizeof(void *), 0, ""};

// A libcurl with OpenSSL has already loaded this library, so it needs no note.
#define TEXT(number) #number
#define LIBSSL_FILE(number) "libssl.so." TEXT(number)
WI_LIBRARY_WITHOUT_NOTE(libssl, LIBSSL_FUNCTIONS, LIBSSL_FILE(OPENSSL_SHLIB_VERSION))

const char *wi_curl_load(void) {
    if (wi_library_load(&wi_libcurl_library) || wi_library_load(&gnutls_variant)) return NULL;
    return wi_libcurl_library.message;
}
