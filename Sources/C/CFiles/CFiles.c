// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "CFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

int wi_open_cached(const char *path) {
#ifdef SYS_openat2
    // struct open_how of linux/openat2.h, spelled out for older headers.
    struct {
        uint64_t flags;
        uint64_t mode;
        uint64_t resolve;
    } how = {O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0, RESOLVE_CACHED};
    long file = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    return file >= 0 ? (int)file : -errno;
#else
    (void)path;
    return -ENOSYS;
#endif
}

ssize_t wi_read_cached(int file, void *buffer, size_t count) {
    struct iovec part = {buffer, count};
    ssize_t got = preadv2(file, &part, 1, 0, RWF_NOWAIT);
    return got >= 0 ? got : -errno;
}

void wi_trim_heap(void) { malloc_trim(0); }

int wi_pipe(int ends[2]) { return pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0 ? 0 : -errno; }
