// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "CFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

#ifdef SYS_openat2
// This is struct open_how from linux/openat2.h, repeated here for older headers.
struct how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};
#define RESOLVE_BENEATH_WITHOUT_LINKS (0x04 /* NO_SYMLINKS */ | 0x08 /* BENEATH */)
#endif

int wi_open_folder(const char *path) {
    int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return folder >= 0 ? folder : -errno;
}

int wi_open_cached(int folder, const char *path) {
#ifdef SYS_openat2
    // Without O_NOATIME, the first read of a new file waits for the journal of the file system.
    struct how how = {
        O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOATIME, 0,
        RESOLVE_CACHED | RESOLVE_BENEATH_WITHOUT_LINKS};
    int file = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (file < 0 && errno == EPERM) {
        // Only the owner of a file can leave its access time unchanged.
        how.flags &= ~(uint64_t)O_NOATIME;
        file = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    }
    return file >= 0 ? file : -errno;
#else
    (void)folder;
    (void)path;
    return -ENOSYS;
#endif
}

ssize_t wi_read_cached(int file, void *buffer, size_t count) {
    struct iovec part = {buffer, count};
    ssize_t got = preadv2(file, &part, 1, 0, RWF_NOWAIT);
    return got >= 0 ? got : -errno;
}

int wi_begin_batch(void) {
    int policy;
    struct sched_param parameters;
    if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0 || policy != SCHED_OTHER) return 0;
    return pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters) == 0;
}

void wi_end_batch(void) {
    struct sched_param parameters = {0};
    (void)pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameters);
}

void wi_trim_heap(void) { malloc_trim(0); }

void wi_limit_heap(void) {
    // Each arena keeps the memory of its largest moment. Setting a threshold also stops glibc from raising it.
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 512 << 10);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

int wi_pipe(int ends[2]) { return pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0 ? 0 : -errno; }

int64_t wi_file_system(const char *path) {
    struct statfs facts;
    if (statfs(path, &facts) != 0) return -errno;
    return (int64_t)(uint32_t)facts.f_type;
}

// Opens each directory of the path relative to the previous one.
static int open_stepwise(int folder, const char *path) {
    char part[256];
    int here = dup(folder);
    while (here >= 0) {
        const char *slash = strchr(path, '/');
        size_t length = slash ? (size_t)(slash - path) : strlen(path);
        if (length == 0 || length >= sizeof part || strncmp(path, "..", length < 2 ? 2 : length) == 0) {
            close(here);
            errno = EINVAL;
            return -1;
        }
        memcpy(part, path, length);
        part[length] = 0;
        int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | (slash ? O_DIRECTORY : 0);
        int next = openat(here, part, flags);
        int problem = errno;
        close(here);
        errno = problem;
        if (!slash) return next;
        here = next;
        path = slash + 1;
    }
    return -1;
}

static int open_beneath(const char *root, const char *path, uint64_t flags, uint64_t resolve) {
    int folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -errno;
    int file = -1;
    errno = ENOSYS;
#ifdef SYS_openat2
    struct how how = {O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0, resolve};
    file = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
#endif
    // Sandboxes reject the newer system call with EPERM.
    if (file < 0 && (errno == ENOSYS || errno == EPERM)) file = open_stepwise(folder, path);
    int problem = errno;
    close(folder);
    return file >= 0 ? file : -problem;
}

int wi_open_beneath(const char *root, const char *path) {
    return open_beneath(root, path, O_NOFOLLOW, 0x04 /* NO_SYMLINKS */ | 0x08 /* BENEATH */);
}

int wi_open_beneath_with_links(const char *root, const char *path) {
    return open_beneath(root, path, 0, 0x02 /* NO_MAGICLINKS */ | 0x08 /* BENEATH */);
}

int wi_landlock_version(void) {
#ifdef SYS_landlock_create_ruleset
    // The flag LANDLOCK_CREATE_RULESET_VERSION creates nothing.
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, 1U);
    return version >= 0 ? (int)version : -errno;
#else
    return -ENOSYS;
#endif
}

int wi_seccomp_filters(void) {
    // A kernel with SECCOMP_MODE_FILTER (2) reads the filter, so it rejects the null pointer with EFAULT. No filter is
    // installed.
    if (prctl(PR_SET_SECCOMP, 2UL, NULL, 0UL, 0UL) == 0) return 1;
    return errno == EFAULT ? 1 : -errno;
}

int wi_seccomp_mode(void) {
    int mode = prctl(PR_GET_SECCOMP, 0UL, 0UL, 0UL, 0UL);
    return mode >= 0 ? mode : -errno;
}

int wi_no_new_privileges(void) {
    int value = prctl(PR_GET_NO_NEW_PRIVS, 0UL, 0UL, 0UL, 0UL);
    return value >= 0 ? value : -errno;
}

int wi_memory_file(void) {
    int file = memfd_create("webimage", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -errno;
    close(file);
    return 0;
}
