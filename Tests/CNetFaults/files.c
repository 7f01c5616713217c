// SPDX-License-Identifier: MIT
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNetFaults.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

typedef int (*status)(const char *, struct stat *);

static _Thread_local const char *watched = NULL;
static _Thread_local int calls = 0;

void wi_stat_watch(const char *path) {
    watched = path;
    calls = 0;
}

int wi_stat_calls(void) { return calls; }

static void note(const char *path) {
    if (watched && path && strcmp(path, watched) == 0) calls++;
}

int stat(const char *restrict path, struct stat *restrict result) {
    note(path);
    return ((status)dlsym(RTLD_NEXT, "stat"))(path, result);
}

int lstat(const char *restrict path, struct stat *restrict result) {
    note(path);
    return ((status)dlsym(RTLD_NEXT, "lstat"))(path, result);
}

int access(const char *path, int mode) {
    note(path);
    return ((int (*)(const char *, int))dlsym(RTLD_NEXT, "access"))(path, mode);
}

int fstatat(int folder, const char *restrict path, struct stat *restrict result, int flags) {
    note(path);
    return ((int (*)(int, const char *, struct stat *, int))dlsym(RTLD_NEXT, "fstatat"))(folder, path, result, flags);
}
