// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "CIsolationProbe.h"

// This module replaces the functions of the process with which a program talks to its helpers, and those with which libcurl
// talks to servers. Arguments tell the calls for helpers from others.

static _Atomic(const char *) target = "";
static _Atomic long countdown = 0;
static _Atomic bool isTransient = false;
static _Atomic(const char *) last = NULL;

void wi_probe_fail(const char *name, long call, bool transient) {
    atomic_store(&countdown, 0);
    atomic_store(&target, name ? name : "");
    atomic_store(&isTransient, transient);
    atomic_store(&last, NULL);
    atomic_store(&countdown, call);
}

const char *wi_probe_failed(void) { return atomic_load(&last); }

bool wi_probe_is_pending(void) { return atomic_load(&countdown) > 0; }

/// Returns the error of a call, or 0.
static int fault(const char *name, int lasting, int transient) {
    if (atomic_load(&countdown) <= 0 || strcmp(name, atomic_load(&target)) != 0) return 0;
    if (atomic_fetch_sub(&countdown, 1) != 1) return 0;
    int error = atomic_load(&isTransient) ? transient : lasting;
    if (error) atomic_store(&last, name);
    return error;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL(name, lasting, transient, result)          \
    do {                                                \
        int error = fault(name, lasting, transient);    \
        if (error) {                                    \
            errno = error;                              \
            return result;                              \
        }                                               \
    } while (0)

int socketpair(int domain, int type, int protocol, int sockets[2]) {
    FAIL("socketpair", EMFILE, ENFILE, -1);
    return NEXT(socketpair)(domain, type, protocol, sockets);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    FAIL("sendmsg", ENOBUFS, EAGAIN, -1);
    return NEXT(sendmsg)(socket, message, flags);
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
    FAIL("recvmsg", ENOMEM, EINTR, -1);
    return NEXT(recvmsg)(socket, message, flags);
}

int memfd_create(const char *name, unsigned flags) {
    FAIL("memfd_create", EMFILE, ENOMEM, -1);
    return NEXT(memfd_create)(name, flags);
}

int ftruncate(int file, off_t size) {
    FAIL("ftruncate", ENOSPC, EFBIG, -1);
    return NEXT(ftruncate)(file, size);
}

int fcntl(int file, int command, ...) {
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    if (command == F_ADD_SEALS || command == F_GET_SEALS) FAIL("fcntl", EPERM, EINVAL, -1);
    return NEXT(fcntl)(file, command, argument);
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    if ((flags & MAP_SHARED) && file >= 0) FAIL("mmap", ENOMEM, EAGAIN, MAP_FAILED);
    return NEXT(mmap)(address, size, protection, flags, file, offset);
}

int poll(struct pollfd *watched, nfds_t count, int milliseconds) {
    if (count == 1) FAIL("poll", ENOMEM, EINTR, -1);
    FAIL("poll-all", ENOMEM, EINTR, -1);
    return NEXT(poll)(watched, count, milliseconds);
}

int posix_spawn_file_actions_addopen(
    posix_spawn_file_actions_t *restrict actions, int file, const char *restrict path, int flags, mode_t mode) {
    int error = fault("posix_spawn_file_actions_addopen", ENOMEM, ENOMEM);
    return error ? error : NEXT(posix_spawn_file_actions_addopen)(actions, file, path, flags, mode);
}

int posix_spawn(
    pid_t *restrict id, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
    const posix_spawnattr_t *restrict attributes, char *const arguments[restrict], char *const environment[restrict]) {
    int error = fault("posix_spawn", ENOMEM, EAGAIN);
    return error ? error : NEXT(posix_spawn)(id, path, actions, attributes, arguments, environment);
}

int socket(int domain, int type, int protocol) {
    FAIL("socket", EMFILE, ENOBUFS, -1);
    return NEXT(socket)(domain, type, protocol);
}

// The bundle of all tests also contains the definition of CNetFaults, which this definition doesn't replace.
__attribute__((weak)) int connect(int socket, const struct sockaddr *address, socklen_t size) {
    FAIL("connect", ENETUNREACH, EAGAIN, -1);
    return NEXT(connect)(socket, address, size);
}

ssize_t send(int socket, const void *bytes, size_t count, int flags) {
    FAIL("send", EPIPE, EAGAIN, -1);
    return NEXT(send)(socket, bytes, count, flags);
}

ssize_t recv(int socket, void *bytes, size_t count, int flags) {
    FAIL("recv", ECONNRESET, EAGAIN, -1);
    return NEXT(recv)(socket, bytes, count, flags);
}

int getsockopt(int socket, int level, int name, void *restrict value, socklen_t *restrict size) {
    FAIL("getsockopt", ENOBUFS, EINVAL, -1);
    return NEXT(getsockopt)(socket, level, name, value, size);
}

int setsockopt(int socket, int level, int name, const void *value, socklen_t size) {
    FAIL("setsockopt", ENOBUFS, EINVAL, -1);
    return NEXT(setsockopt)(socket, level, name, value, size);
}

int getsockname(int socket, struct sockaddr *restrict address, socklen_t *restrict size) {
    FAIL("getsockname", ENOBUFS, EINVAL, -1);
    return NEXT(getsockname)(socket, address, size);
}

int getpeername(int socket, struct sockaddr *restrict address, socklen_t *restrict size) {
    FAIL("getpeername", ENOTCONN, ENOBUFS, -1);
    return NEXT(getpeername)(socket, address, size);
}

int eventfd(unsigned count, int flags) {
    FAIL("eventfd", EMFILE, ENOMEM, -1);
    return NEXT(eventfd)(count, flags);
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
    FAIL("waitid", EINTR, EINTR, -1);
    return NEXT(waitid)(type, id, info, options);
}

// Foundation calls this function at the end of a thread, when the thread sanitizer has already freed its state.
__attribute__((disable_sanitizer_instrumentation)) long syscall(long number, ...) {
    va_list list;
    long argument[6];
    va_start(list, number);
    for (int index = 0; index < 6; index++) argument[index] = va_arg(list, long);
    va_end(list);
    if (number == 434 /* pidfd_open */) FAIL("pidfd_open", EMFILE, ENOMEM, -1);
    return NEXT(syscall)(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
