// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "CSandbox.h"

int wi_sandbox_memory(size_t size) {
    int memory = memfd_create("webimage", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return -errno;
    if (size > (size_t)INT64_MAX || ftruncate(memory, (off_t)size) ||
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        int error = size > (size_t)INT64_MAX ? EFBIG : errno;
        close(memory);
        return -error;
    }
    return memory;
}

void *wi_sandbox_map(int memory, size_t size, bool writable) {
    void *address = mmap(NULL, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, memory, 0);
    return address == MAP_FAILED ? NULL : address;
}

void wi_sandbox_unmap(void *address, size_t size) { munmap(address, size); }

void wi_sandbox_discard(int memory, size_t offset, size_t size) {
    // Without this call, the pages remain. That costs memory, but it isn't an error.
    if (fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size)) return;
}

bool wi_sandbox_is_sealed(int memory, size_t size) {
    struct stat status;
    int seals = fcntl(memory, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) && !fstat(memory, &status) && (uint64_t)status.st_size >= size;
}

int wi_sandbox_send(int socket, const void *bytes, size_t count, int descriptor) {
    struct iovec part = {(void *)bytes, count};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : (size_t)sent == count ? 0 : EMSGSIZE;
}

ssize_t wi_sandbox_receive(int socket, void *bytes, size_t room, int *descriptor) {
    struct iovec part = {bytes, room};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor) {
        *descriptor = -1;
        message.msg_control = &control;
        message.msg_controllen = sizeof control.room;
    }
    ssize_t count;
    do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    struct cmsghdr *header = descriptor && message.msg_controllen ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(descriptor, CMSG_DATA(header), sizeof(int));
    if (message.msg_flags & MSG_TRUNC) return -EMSGSIZE;
    return count;
}

int wi_sandbox_poll(int socket, bool forRoom, int milliseconds) {
    struct pollfd watched = {socket, forRoom ? POLLOUT : POLLIN, 0};
    int count;
    do count = poll(&watched, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

uint32_t wi_sandbox_load(const void *word) {
    return atomic_load_explicit((const _Atomic uint32_t *)word, memory_order_relaxed);
}

void wi_sandbox_store(void *word, uint32_t value) {
    atomic_store_explicit((_Atomic uint32_t *)word, value, memory_order_relaxed);
}

uint64_t wi_sandbox_progress(const void *number) {
    return atomic_load_explicit((const _Atomic uint64_t *)number, memory_order_acquire);
}

void wi_sandbox_set_progress(void *number, uint64_t value) {
    atomic_store_explicit((_Atomic uint64_t *)number, value, memory_order_release);
}

void wi_sandbox_trim(void) { malloc_trim(0); }
