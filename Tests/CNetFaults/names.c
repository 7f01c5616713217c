// SPDX-License-Identifier: MIT
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNetFaults.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool held = false;
static int begun = 0;

int wi_names_begun(void) {
    pthread_mutex_lock(&mutex);
    int count = begun;
    pthread_mutex_unlock(&mutex);
    return count;
}

static void set_held(bool value) {
    pthread_mutex_lock(&mutex);
    held = value;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void wi_names_hold(void) { set_held(true); }
void wi_names_release(void) { set_held(false); }

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static int wait_for_release(void) {
    pthread_mutex_lock(&mutex);
    begun++;
    while (held) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return EAI_NONAME;
}

/// Resolves the labels before `.at.test` and concatenates the address lists of the labels.
static int told(lookup system, char *labels, const char *service, const struct addrinfo *hints,
                struct addrinfo **result) {
    struct addrinfo **end = result;
    *result = NULL;
    char *rest = NULL;
    for (char *label = strtok_r(labels, ".", &rest); label; label = strtok_r(NULL, ".", &rest)) {
        struct in_addr four;
        char text[64];
        snprintf(text, sizeof text, "%s", label);
        for (char *c = text; *c; c++) *c = *c == '-' ? '.' : *c;
        if (inet_pton(AF_INET, text, &four) != 1)
            for (char *c = text; *c; c++) *c = *c == '.' ? ':' : *c;
        struct addrinfo wanted = {0};
        if (hints) wanted = *hints;
        // Like a resolver, skip the addresses that the caller's hints exclude.
        if (system(text, service, &wanted, end) != 0) continue;
        while (*end) end = &(*end)->ai_next;
    }
    return *result ? 0 : EAI_NONAME;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    lookup system = (lookup)dlsym(RTLD_NEXT, "getaddrinfo");
    static const char suffix[] = ".at.test";
    if (name && ends_with(name, ".stuck.test")) return wait_for_release();
    if (name && ends_with(name, suffix)) {
        char labels[256];
        snprintf(labels, sizeof labels, "%.*s", (int)(strlen(name) - sizeof suffix + 1), name);
        return told(system, labels, service, hints, result);
    }
    return system(name, service, hints, result);
}
