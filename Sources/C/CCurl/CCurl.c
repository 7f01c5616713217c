// SPDX-License-Identifier: MIT
#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

CURLcode wi_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode wi_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode wi_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode wi_curl_set_data_function(CURL *easy, CURLoption option, wi_curl_data_function function) {
    return curl_easy_setopt(easy, option, function);
}

CURLcode wi_curl_set_open_socket(CURL *easy, curl_opensocket_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
}

CURLcode wi_curl_set_close_socket(CURL *easy, curl_closesocket_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
}

CURLcode wi_curl_set_before_request(CURL *easy, curl_prereq_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}

CURLcode wi_curl_allow_http(CURL *easy) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#pragma GCC diagnostic pop
}

CURLcode wi_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

CURLcode wi_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

CURLcode wi_curl_get_socket(CURL *easy, curl_socket_t *value) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}

CURLMcode wi_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

bool wi_curl_next_finished(CURLM *multi, CURL **easy, CURLcode *code) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
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
    return curl_multi_poll(multi, &extra, 1, milliseconds, NULL) == CURLM_OK && extra.revents != 0;
}

// libpsl comes with libcurl but its headers do not: it is looked for when the program runs.
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
