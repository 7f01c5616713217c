// SPDX-License-Identifier: MIT
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNetFaults.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

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
static int resolve_labels(lookup system, char *labels, const char *service, const struct addrinfo *hints,
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

/// Returns the number of earlier lookups of a name. Names beyond the room of the table count as new.
static int earlier_lookups(const char *name) {
    static struct {
        char name[128];
        int count;
    } names[32];
    int count = 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].count == 0) snprintf(names[i].name, sizeof names[i].name, "%s", name);
        if (strcmp(names[i].name, name) != 0) continue;
        count = names[i].count++;
        break;
    }
    pthread_mutex_unlock(&mutex);
    return count;
}

/// Resolves the first label of a name at the first lookup, and the second label later.
static int rebound(lookup system, const char *name, const char *service, const struct addrinfo *hints,
                   struct addrinfo **result) {
    char labels[256];
    char *rest = NULL;
    snprintf(labels, sizeof labels, "%s", name);
    char *first = strtok_r(labels, ".", &rest);
    char *second = strtok_r(NULL, ".", &rest);
    char *chosen = earlier_lookups(name) == 0 ? first : second;
    return chosen ? resolve_labels(system, chosen, service, hints, result) : EAI_NONAME;
}

static _Atomic int public_connections[65536];

int wi_public_connections(unsigned short port) { return atomic_load(&public_connections[port]); }

int connect(int descriptor, __CONST_SOCKADDR_ARG address, socklen_t size) {
    int (*system)(int, const struct sockaddr *, socklen_t) =
        (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    const struct sockaddr *name = address.__sockaddr__;
    struct sockaddr_in four;
    if (!name || size < sizeof four || name->sa_family != AF_INET) return system(descriptor, name, size);
    memcpy(&four, name, sizeof four);
    if (four.sin_addr.s_addr != htonl(0x0b16212c)) return system(descriptor, name, size);
    atomic_fetch_add(&public_connections[ntohs(four.sin_port)], 1);
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return system(descriptor, (const struct sockaddr *)&four, sizeof four);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    lookup system = (lookup)dlsym(RTLD_NEXT, "getaddrinfo");
    static const char suffix[] = ".at.test";
    if (name && ends_with(name, ".stuck.test")) return wait_for_release();
    if (name && ends_with(name, ".rebind.test")) return rebound(system, name, service, hints, result);
    if (name && ends_with(name, suffix)) {
        char labels[256];
        snprintf(labels, sizeof labels, "%.*s", (int)(strlen(name) - sizeof suffix + 1), name);
        return resolve_labels(system, labels, service, hints, result);
    }
    return system(name, service, hints, result);
}
