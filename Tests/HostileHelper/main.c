// SPDX-License-Identifier: MIT
// A helper that attacks its program. It isn't confined, as if an attacker had control over a confined helper. The file
// `<path of this program>.script` contains the attacks. Its counter is shared, so the next process continues where the
// previous one ended. The program uses no libraries, so it starts in less than a millisecond.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOCKET = 3, MAX_MESSAGE = 128 << 10 };

/// The start of the script. `HostileScript` in the tests writes it.
typedef struct {
    _Atomic uint32_t next;
    /// The number of attacks.
    uint32_t count;
    /// The kinds of the messages that need no response.
    uint16_t inputRegion, outputRegion, closeSession, reserved;
    /// The position of the message that a helper sends first, and the positions of the attacks.
    uint32_t hello, positions[];
} script;

enum {
    EXIT = 1,
    SIGNAL,
    CLOSE,
    SPIN,
    SLEEP,
    UNMAP,
    RESIZE,
    BEYOND,
    DESCRIPTORS,
    RACE,
};

/// The response to a request. Messages follow: each has a size, a flag, and the bytes.
typedef struct {
    uint32_t action, argument, scribbles, messages;
} attack;

typedef struct {
    int descriptor;
    size_t size;
    unsigned char *bytes;
} region;

static region input = {-1, 0, NULL}, output = {-1, 0, NULL};
static uint64_t state = 1;

static uint64_t next_random(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static void send_bytes(const unsigned char *bytes, size_t count, int descriptor) {
    struct iovec part = {(void *)bytes, count};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    sendmsg(SOCKET, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Receives a message and returns its size. `descriptor` receives a descriptor or -1.
static ssize_t receive(unsigned char *bytes, int *descriptor) {
    struct iovec part = {bytes, MAX_MESSAGE};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control};
    message.msg_controllen = sizeof control.room;
    *descriptor = -1;
    ssize_t count = recvmsg(SOCKET, &message, 0);
    struct cmsghdr *header = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(header), sizeof(int));
    return count;
}

static void adopt(region *own, int descriptor) {
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status)) return;
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (bytes == MAP_FAILED) return;
    *own = (region){descriptor, (size_t)status.st_size, bytes};
}

static void scribble(region own, uint32_t count) {
    for (uint32_t at = 0; own.bytes && at < count; at++) own.bytes[next_random() % own.size] = (unsigned char)next_random();
}

static void resize(region own) {
    if (own.descriptor < 0) return;
    // The seals prevent the first two calls. The third one frees the pages for both processes.
    if (ftruncate(own.descriptor, 0)) scribble(own, 1);
    if (ftruncate(own.descriptor, (off_t)own.size * 2)) scribble(own, 1);
    if (fallocate(own.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)own.size)) scribble(own, 1);
    fcntl(own.descriptor, F_ADD_SEALS, F_SEAL_WRITE);
}

static void perform(const attack *own, uint64_t request) {
    scribble(input, own->scribbles);
    scribble(output, own->scribbles);
    switch (own->action) {
    case EXIT: _exit((int)own->argument);
    case SIGNAL: kill(getpid(), (int)own->argument); break;
    case CLOSE: close(SOCKET); _exit(0);
    case SPIN: for (;;) next_random();
    case SLEEP: for (;;) pause();
    case UNMAP:
        if (output.bytes) munmap(output.bytes, output.size);
        output.bytes = NULL;
        break;
    case RESIZE: resize(input); resize(output); break;
    case BEYOND: if (output.bytes) memset(output.bytes, 0xFF, output.size + (256 << 20)); break;
    default: break;
    }
    const unsigned char *at = (const unsigned char *)(own + 1);
    static unsigned char bytes[MAX_MESSAGE];
    for (uint32_t index = 0; index < own->messages; index++) {
        uint32_t count, isResponse;
        memcpy(&count, at, 4);
        memcpy(&isResponse, at + 4, 4);
        memcpy(bytes, at + 8, count);
        // The number of the request follows the signature, the version, and the kind.
        if (isResponse && count >= 16) memcpy(bytes + 8, &request, 8);
        send_bytes(bytes, count, own->action == DESCRIPTORS ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);
        at += 8 + (count + 7) / 8 * 8;
    }
    // Change the memory while the program reads it.
    if (own->action == RACE)
        for (uint32_t round = 0; round < own->argument; round++) scribble(output, 64);
}

int main(int argc, char **arguments) {
    // The Swift runtime, which the package manager links, would start a program that prints a backtrace.
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    char path[PATH_MAX];
    if (argc < 1 || snprintf(path, sizeof path, "%s.script", arguments[0]) >= (int)sizeof path) return 2;
    int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status)) return 2;
    script *own = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (own == MAP_FAILED) return 2;
    const unsigned char *base = (const unsigned char *)own;
    uint32_t hello;
    memcpy(&hello, base + own->hello, 4);
    send_bytes(base + own->hello + 8, hello, -1);
    static unsigned char bytes[MAX_MESSAGE];
    for (;;) {
        int descriptor;
        ssize_t count = receive(bytes, &descriptor);
        if (count < 16) return 0;
        uint16_t kind;
        uint64_t request;
        memcpy(&kind, bytes + 6, 2);
        memcpy(&request, bytes + 8, 8);
        if (kind == own->inputRegion) {
            adopt(&input, descriptor);
        } else if (kind == own->outputRegion) {
            adopt(&output, descriptor);
        } else if (kind != own->closeSession) {
            uint32_t index = atomic_fetch_add(&own->next, 1);
            state = index + 1;
            perform((const attack *)(base + own->positions[index % own->count]), request);
        }
    }
}
