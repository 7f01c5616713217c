// SPDX-License-Identifier: MIT
#include "CCurl.h"
#include "library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

CURLcode wi_curl_global_init(void) {
    return (libcurl.curl_global_init)(CURL_GLOBAL_DEFAULT);
}

const char *wi_curl_version(void) {
    return (libcurl.curl_version)();
}

const curl_version_info_data *wi_curl_version_info(void) {
    return (libcurl.curl_version_info)(CURLVERSION_FIRST);
}

CURL *wi_curl_easy_init(void) {
    return (libcurl.curl_easy_init)();
}

void wi_curl_easy_cleanup(CURL *easy) {
    (libcurl.curl_easy_cleanup)(easy);
}

void wi_curl_easy_reset(CURL *easy) {
    (libcurl.curl_easy_reset)(easy);
}

CURLcode wi_curl_easy_resume(CURL *easy) {
    return (libcurl.curl_easy_pause)(easy, CURLPAUSE_CONT);
}

const char *wi_curl_message(CURLcode code) {
    return (libcurl.curl_easy_strerror)(code);
}

struct curl_slist *wi_curl_list_append(struct curl_slist *list, const char *line) {
    return (libcurl.curl_slist_append)(list, line);
}

void wi_curl_list_free(struct curl_slist *list) {
    (libcurl.curl_slist_free_all)(list);
}

CURLM *wi_curl_multi_init(void) {
    return (libcurl.curl_multi_init)();
}

void wi_curl_multi_cleanup(CURLM *multi) {
    (libcurl.curl_multi_cleanup)(multi);
}

CURLMcode wi_curl_multi_add(CURLM *multi, CURL *easy) {
    return (libcurl.curl_multi_add_handle)(multi, easy);
}

void wi_curl_multi_remove(CURLM *multi, CURL *easy) {
    (libcurl.curl_multi_remove_handle)(multi, easy);
}

void wi_curl_multi_perform(CURLM *multi) {
    int running = 0;
    (libcurl.curl_multi_perform)(multi, &running);
}

CURLcode wi_curl_set_long(CURL *easy, CURLoption option, long value) {
    return (libcurl.curl_easy_setopt)(easy, option, value);
}

CURLcode wi_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return (libcurl.curl_easy_setopt)(easy, option, value);
}

CURLcode wi_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return (libcurl.curl_easy_setopt)(easy, option, value);
}

CURLcode wi_curl_set_data_function(CURL *easy, CURLoption option, wi_curl_data_function function) {
    return (libcurl.curl_easy_setopt)(easy, option, function);
}

CURLcode wi_curl_set_open_socket(CURL *easy, curl_opensocket_callback function, void *context) {
    CURLcode code = (libcurl.curl_easy_setopt)(easy, CURLOPT_OPENSOCKETFUNCTION, function);
    return code != CURLE_OK ? code : (libcurl.curl_easy_setopt)(easy, CURLOPT_OPENSOCKETDATA, context);
}

CURLcode wi_curl_set_close_socket(CURL *easy, curl_closesocket_callback function, void *context) {
    CURLcode code = (libcurl.curl_easy_setopt)(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
    return code != CURLE_OK ? code : (libcurl.curl_easy_setopt)(easy, CURLOPT_CLOSESOCKETDATA, context);
}

CURLcode wi_curl_set_before_request(CURL *easy, curl_prereq_callback function, void *context) {
    CURLcode code = (libcurl.curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, function);
    return code != CURLE_OK ? code : (libcurl.curl_easy_setopt)(easy, CURLOPT_PREREQDATA, context);
}

CURLcode wi_curl_allow_http(CURL *easy) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return (libcurl.curl_easy_setopt)(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#pragma GCC diagnostic pop
}

CURLcode wi_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return (libcurl.curl_easy_getinfo)(easy, info, value);
}

CURLcode wi_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return (libcurl.curl_easy_getinfo)(easy, info, value);
}

CURLcode wi_curl_get_socket(CURL *easy, curl_socket_t *value) {
    return (libcurl.curl_easy_getinfo)(easy, CURLINFO_ACTIVESOCKET, value);
}

// Record the TLS events of the server. libcurl reports alerts only as text, and not at all if sending failed first.

static int facts_index = -1;
// The index of a mark on sessions whose server requested a certificate. OpenSSL copies the mark to later tickets.
static int request_index = -1;
static pthread_once_t facts_once = PTHREAD_ONCE_INIT;

static void release_facts(void *parent, void *facts, CRYPTO_EX_DATA *data, int index, long number, void *pointer) {
    (void)parent, (void)data, (void)index, (void)number, (void)pointer;
    wi_tls_facts_release(facts);
}

static void find_facts_index(void) {
    const curl_version_info_data *version = (libcurl.curl_version_info)(CURLVERSION_NOW);
    const char *name = version != NULL && version->ssl_version != NULL ? version->ssl_version : "";
    const char prefix[] = "OpenSSL/";
    // Don't pass the pointers of another TLS library or another major version of OpenSSL to this one.
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return;
    if (atoi(name + sizeof prefix - 1) != OPENSSL_VERSION_MAJOR) return;
    if (!wi_library_load(&wi_libssl_library)) return;
    facts_index = (libssl.CRYPTO_get_ex_new_index)(CRYPTO_EX_INDEX_SSL_CTX, 0, NULL, NULL, NULL, release_facts);
    request_index = (libssl.CRYPTO_get_ex_new_index)(CRYPTO_EX_INDEX_SSL_SESSION, 0, NULL, NULL, NULL, NULL);
}

static bool is_our_tls(void) {
    pthread_once(&facts_once, find_facts_index);
    return facts_index >= 0;
}

wi_tls_facts *wi_tls_facts_create(void) {
    wi_tls_facts *facts = calloc(1, sizeof *facts);
    if (facts == NULL) return NULL;
    facts->alert = -1;
    facts->users = 1;
    return facts;
}

void wi_tls_facts_release(wi_tls_facts *facts) {
    if (facts != NULL && --facts->users == 0) free(facts);
}

static wi_tls_facts *facts_of(const SSL *ssl) {
    return (libssl.SSL_CTX_get_ex_data)((libssl.SSL_get_SSL_CTX)(ssl), facts_index);
}

static void note_state(const SSL *ssl, int where, int value) {
    wi_tls_facts *facts = facts_of(ssl);
    if (facts == NULL) return;
    if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT) {
        if ((value & 255) == SSL_AD_CLOSE_NOTIFY) facts->has_ended = true;
        else facts->alert = value & 255;
    }
    if ((where & SSL_CB_HANDSHAKE_DONE) != 0) {
        const unsigned char *name = NULL;
        unsigned int length = 0;
        (libssl.SSL_get0_alpn_selected)(ssl, &name, &length);
        facts->is_http2 = length == 2 && memcmp(name, "h2", 2) == 0;
        // If a session is resumed, the server doesn't request the certificate again.
        SSL_SESSION *session = (libssl.SSL_get_session)(ssl);
        if (request_index >= 0 && session != NULL && (libssl.SSL_session_reused)(ssl) == 1 &&
            (libssl.SSL_SESSION_get_ex_data)(session, request_index) != NULL)
            facts->wants_certificate = true;
    }
}

// OpenSSL calls this function if the server requests a certificate.
static int note_certificate_request(SSL *ssl, void *argument) {
    (void)argument;
    wi_tls_facts *facts = facts_of(ssl);
    if (facts != NULL) facts->wants_certificate = true;
    SSL_SESSION *session = (libssl.SSL_get_session)(ssl);
    static char mark;
    if (request_index >= 0 && session != NULL) (libssl.SSL_SESSION_set_ex_data)(session, request_index, &mark);
    return 1;
}

void wi_curl_set_tls_observer(CURL *easy, curl_ssl_ctx_callback function, void *context) {
    if (!is_our_tls()) return;
    (libcurl.curl_easy_setopt)(easy, CURLOPT_SSL_CTX_FUNCTION, function);
    (libcurl.curl_easy_setopt)(easy, CURLOPT_SSL_CTX_DATA, context);
}

void wi_tls_observe(void *context, wi_tls_facts *facts) {
    if (!is_our_tls() || (libssl.SSL_CTX_set_ex_data)(context, facts_index, facts) != 1) return;
    facts->users += 1;
    (libssl.SSL_CTX_set_info_callback)(context, note_state);
    (libssl.SSL_CTX_set_cert_cb)(context, note_certificate_request, NULL);
}

void wi_curl_set_message_observer(CURL *easy, curl_debug_callback function, void *context) {
    (libcurl.curl_easy_setopt)(easy, CURLOPT_DEBUGFUNCTION, function);
    (libcurl.curl_easy_setopt)(easy, CURLOPT_DEBUGDATA, context);
}

wi_stream_event wi_curl_stream_event(const char *message, size_t length, unsigned int *number) {
    // Most messages have another first character, and the events have short messages.
    if (length == 0 || strchr("UrRDC[", message[0]) == NULL) return WI_STREAM_NO_EVENT;
    char text[128];
    if (length >= sizeof text) length = sizeof text - 1;
    memcpy(text, message, length);
    text[length] = 0;
    int end = 0;
    if (sscanf(text, "Using Stream ID: %u", number) == 1) return WI_STREAM_BEGAN;
    if (sscanf(text, "[HTTP/2] [%u] OPENED stream%n", number, &end) == 1 && end > 0) return WI_STREAM_BEGAN;
    // libcurl 7.88 misspells the first word.
    if (sscanf(text, "%*[a-z] GOAWAY, error=%*d, last_stream=%u", number) == 1) return WI_STREAM_GOAWAY;
    if (strncmp(text, "REFUSED_STREAM, retrying", 24) == 0) return WI_STREAM_REFUSED;
    if (strncmp(text, "Downgrades to HTTP/1.1", 22) == 0) return WI_STREAM_DOWNGRADED;
    return strncmp(text, "Connection died, retrying", 25) == 0 ? WI_STREAM_ABANDONED : WI_STREAM_NO_EVENT;
}

void *wi_curl_tls(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    if (!is_our_tls() || (libcurl.curl_easy_getinfo)(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || info == NULL) return NULL;
    return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

bool wi_curl_has_unread_bytes(CURL *easy) {
    SSL *ssl = wi_curl_tls(easy);
    return ssl != NULL && (libssl.SSL_has_pending)(ssl) == 1;
}

void wi_curl_flush(CURL *easy) {
    (libcurl.curl_easy_pause)(easy, CURLPAUSE_RECV);
    (libcurl.curl_easy_pause)(easy, CURLPAUSE_CONT);
}

long wi_socket_idle_milliseconds(int descriptor) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
    if (length < offsetof(struct tcp_info, tcpi_last_data_recv) + sizeof info.tcpi_last_data_recv) return -1;
    return (long)info.tcpi_last_data_recv;
}

CURLMcode wi_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (libcurl.curl_multi_setopt)(multi, option, value);
}

bool wi_curl_next_finished(CURLM *multi, CURL **easy, CURLcode *code) {
    int left = 0;
    CURLMsg *message;
    while ((message = (libcurl.curl_multi_info_read)(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *easy = message->easy_handle;
            *code = message->data.result;
            return true;
        }
    }
    return false;
}

bool wi_curl_multi_poll(CURLM *multi, int descriptor, int milliseconds) {
    struct curl_waitfd extra = {.fd = descriptor, .events = CURL_WAIT_POLLIN, .revents = 0};
    return (libcurl.curl_multi_poll)(multi, &extra, 1, milliseconds, NULL) == CURLM_OK && extra.revents != 0;
}

// libcurl doesn't expose the descriptors of the pair, so identify them by the effect of a wakeup. One end then has one
// unread byte and the other has unacknowledged bytes, and both disappear after the poll that reads the byte.

typedef struct {
    int descriptor;
    int unread;
    int unsent;
} unix_socket;

static bool measure(unix_socket *candidate) {
    return ioctl(candidate->descriptor, FIONREAD, &candidate->unread) == 0 &&
           ioctl(candidate->descriptor, SIOCOUTQ, &candidate->unsent) == 0;
}

static bool is_inherited_unix_stream(int descriptor) {
    int domain = 0, type = 0;
    socklen_t length = sizeof domain;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || domain != AF_UNIX) return false;
    length = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) return false;
    int flags = fcntl(descriptor, F_GETFD);
    return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

void wi_curl_multi_close_on_exec(CURLM *multi) {
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL) return;
    unix_socket *candidates = NULL;
    size_t count = 0, room = 0;
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        unix_socket candidate = {.descriptor = atoi(entry->d_name)};
        if (entry->d_name[0] == '.' || !is_inherited_unix_stream(candidate.descriptor)) continue;
        if (!measure(&candidate) || candidate.unread != 0 || candidate.unsent != 0) continue;
        if (count == room) {
            room = room * 2 + 16;
            unix_socket *larger = realloc(candidates, room * sizeof *larger);
            if (larger == NULL) break;
            candidates = larger;
        }
        candidates[count++] = candidate;
    }
    closedir(directory);
    (libcurl.curl_multi_wakeup)(multi);
    size_t changed = 0;
    for (size_t i = 0; i < count; i++) {
        unix_socket candidate = candidates[i];
        if (measure(&candidate) && (candidate.unread == 1) != (candidate.unsent > 0)) candidates[changed++] = candidate;
    }
    (libcurl.curl_multi_poll)(multi, NULL, 0, 0, NULL);
    for (size_t i = 0; i < changed; i++) {
        unix_socket candidate = candidates[i];
        if (measure(&candidate) && candidate.unread == 0 && candidate.unsent == 0)
            fcntl(candidate.descriptor, F_SETFD, FD_CLOEXEC);
    }
    free(candidates);
}

// Debian's libcurl depends on libpsl, but the headers of libpsl may be missing, so load the library at run time.
static const void *suffix_list;
static int (*suffix_question)(const void *, const char *);
static pthread_once_t suffix_once = PTHREAD_ONCE_INIT;

static void find_suffix_list(void) {
    void *library = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return;
    const void *(*builtin)(void) = (const void *(*)(void))dlsym(library, "psl_builtin");
    suffix_question = (int (*)(const void *, const char *))dlsym(library, "psl_is_public_suffix");
    suffix_list = builtin != NULL ? builtin() : NULL;
}

int wi_is_public_suffix(const char *domain) {
    pthread_once(&suffix_once, find_suffix_list);
    return suffix_list == NULL || suffix_question == NULL ? -1 : suffix_question(suffix_list, domain);
}

int wi_wake_create(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void wi_wake_signal(int descriptor) {
    uint64_t one = 1;
    (void)!write(descriptor, &one, sizeof one);
}

void wi_wake_clear(int descriptor) {
    uint64_t value;
    (void)!read(descriptor, &value, sizeof value);
}

void wi_ignore_broken_pipes(void) {
    struct sigaction present;
    if (sigaction(SIGPIPE, NULL, &present) == 0 && present.sa_handler == SIG_DFL) {
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        sigemptyset(&ignore.sa_mask);
        sigaction(SIGPIPE, &ignore, NULL);
    }
}
