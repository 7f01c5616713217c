// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#ifdef WI_IS_ON
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "CMemcached.h"

/// The size of the receive buffer, which also limits the length of a line.
enum { BUFFER = 4096 };

/// The time for which resolved addresses are used, and the time after which they're resolved again if none of them
/// accepts a connection.
enum { RESOLVED_MS = 60000, UNREACHABLE_MS = 1000 };

struct wi_memcached_node {
    char *host;
    char port[6];
    /// The addresses of the host, or NULL, and the time at which they must be resolved again.
    struct addrinfo *addresses;
    int64_t resolve_at;
    /// The socket, or -1.
    int socket;
    int connect_ms, operation_ms;
    size_t value_limit;
    /// The end of the running operation, in milliseconds of the monotonic clock.
    int64_t deadline;
    /// The received bytes that weren't read are between `start` and `end`.
    size_t start, end;
    char buffer[BUFFER];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void drop(wi_memcached_node *node) {
    if (node->socket >= 0) close(node->socket);
    node->socket = -1;
    node->start = node->end = 0;
}

/// Waits until the socket is ready. Returns 0 after the deadline or on an error.
static int is_ready(const wi_memcached_node *node, short events) {
    struct pollfd entry = {node->socket, events, 0};
    while (1) {
        int64_t left = node->deadline - now();
        if (left <= 0) return 0;
        int count = poll(&entry, 1, left > 60000 ? 60000 : (int)left);
        if (count > 0) return 1;
        if (count < 0 && errno != EINTR) return 0;
    }
}

static int connect_to(wi_memcached_node *node, const struct addrinfo *address) {
    node->socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (node->socket < 0) return 0;
    const int yes = 1;
    (void)setsockopt(node->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    int code = connect(node->socket, address->ai_addr, address->ai_addrlen);
    if (code != 0 && errno == EINPROGRESS && is_ready(node, POLLOUT)) {
        socklen_t size = sizeof code;
        if (getsockopt(node->socket, SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = -1;
    }
    if (code == 0) return 1;
    drop(node);
    return 0;
}

/// Resolves the host unless its addresses are known. Returns 0 if there are none.
///
/// The resolver of the system has its own timeouts, so the time of the connection begins afterward. Numeric addresses
/// need no resolver, and known addresses remain in use while the resolver fails.
static int resolve(wi_memcached_node *node) {
    if (node->addresses && now() < node->resolve_at) return 1;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(node->host, node->port, &hints, &found) != 0) {
        hints.ai_flags = AI_NUMERICSERV;
        if (getaddrinfo(node->host, node->port, &hints, &found) != 0) found = NULL;
    }
    if (found) {
        if (node->addresses) freeaddrinfo(node->addresses);
        node->addresses = found;
    }
    node->resolve_at = now() + RESOLVED_MS;
    return node->addresses != NULL;
}

/// Connects if necessary, and starts the time of an operation.
static int begin(wi_memcached_node *node) {
    if (node->socket >= 0) {
        // Between two operations, only the end of the connection or an invalid response can be readable.
        struct pollfd entry = {node->socket, POLLIN, 0};
        if (poll(&entry, 1, 0) != 0) drop(node);
    }
    if (node->socket < 0) {
        if (!resolve(node)) return 0;
        node->deadline = now() + node->connect_ms;
        for (const struct addrinfo *each = node->addresses; each && node->socket < 0; each = each->ai_next)
            (void)connect_to(node, each);
        // The host can have another address.
        if (node->socket < 0 && node->resolve_at > now() + UNREACHABLE_MS) node->resolve_at = now() + UNREACHABLE_MS;
    }
    node->deadline = now() + node->operation_ms;
    return node->socket >= 0;
}

static int send_all(wi_memcached_node *node, struct iovec *parts, size_t count) {
    while (count) {
        const struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
        ssize_t sent = sendmsg(node->socket, &message, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) continue;
            if ((errno != EAGAIN && errno != EWOULDBLOCK) || !is_ready(node, POLLOUT)) return 0;
            continue;
        }
        size_t rest = (size_t)sent;
        while (count && rest >= parts->iov_len) {
            rest -= parts->iov_len;
            parts++, count--;
        }
        if (count) {
            parts->iov_base = (char *)parts->iov_base + rest;
            parts->iov_len -= rest;
        }
    }
    return 1;
}

/// Receives at most `limit` bytes. Returns 0 after the deadline, on an error, or at the end of the connection.
static size_t receive(wi_memcached_node *node, char *target, size_t limit) {
    while (1) {
        // The check of the time also ends the wait for a server that continuously sends single bytes.
        if (now() >= node->deadline) return 0;
        ssize_t count = recv(node->socket, target, limit, 0);
        if (count > 0) return (size_t)count;
        if (count == 0) return 0;
        if (errno == EINTR) continue;
        if ((errno != EAGAIN && errno != EWOULDBLOCK) || !is_ready(node, POLLIN)) return 0;
    }
}

/// Returns a line without its end, which is valid until the next read, or NULL.
static char *read_line(wi_memcached_node *node) {
    size_t searched = node->start;
    while (1) {
        char *mark = memchr(node->buffer + searched, '\n', node->end - searched);
        if (mark) {
            char *line = node->buffer + node->start;
            node->start = (size_t)(mark - node->buffer) + 1;
            if (mark == line || mark[-1] != '\r') return NULL;
            mark[-1] = 0;
            // A line with a zero byte isn't valid.
            return strlen(line) == (size_t)(mark - 1 - line) ? line : NULL;
        }
        if (node->start) {
            memmove(node->buffer, node->buffer + node->start, node->end - node->start);
            node->end -= node->start;
            node->start = 0;
        }
        searched = node->end;
        if (node->end == BUFFER) return NULL;
        size_t count = receive(node, node->buffer + node->end, BUFFER - node->end);
        if (!count) return NULL;
        node->end += count;
    }
}

static int read_exactly(wi_memcached_node *node, char *target, size_t count) {
    size_t known = node->end - node->start < count ? node->end - node->start : count;
    memcpy(target, node->buffer + node->start, known);
    node->start += known;
    while (known < count) {
        size_t received = receive(node, target + known, count - known);
        if (!received) return 0;
        known += received;
    }
    return 1;
}

/// Ends an operation. A connection with an unknown or incomplete response isn't used again.
static wi_memcached_status finish(wi_memcached_node *node, wi_memcached_status status) {
    if (status < 0 || node->start != node->end) {
        drop(node);
        return WI_MEMCACHED_FAILED;
    }
    if (status == WI_MEMCACHED_REFUSED) drop(node);
    return status;
}

/// Sends a command and maps the single line of its response.
static wi_memcached_status run(wi_memcached_node *node, struct iovec *parts, size_t count, const char *success) {
    if (!begin(node) || !send_all(node, parts, count)) return finish(node, WI_MEMCACHED_FAILED);
    const char *line = read_line(node);
    if (!line) return finish(node, WI_MEMCACHED_FAILED);
    if (strcmp(line, success) == 0) return finish(node, WI_MEMCACHED_OK);
    if (strcmp(line, "NOT_FOUND") == 0) return finish(node, WI_MEMCACHED_MISS);
    if (strcmp(line, "NOT_STORED") == 0 || strcmp(line, "EXISTS") == 0) return finish(node, WI_MEMCACHED_EXISTS);
    return finish(node, strncmp(line, "SERVER_ERROR ", 13) == 0 ? WI_MEMCACHED_REFUSED : WI_MEMCACHED_FAILED);
}

static struct iovec part(const void *bytes, size_t count) { return (struct iovec){(void *)bytes, count}; }

wi_memcached_node *wi_memcached_node_open(const char *host, uint16_t port, int connect_ms, int operation_ms,
                                          size_t value_limit) {
    wi_memcached_node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->host = strdup(host);
    snprintf(node->port, sizeof node->port, "%u", port);
    node->socket = -1;
    node->connect_ms = connect_ms;
    node->operation_ms = operation_ms;
    node->value_limit = value_limit;
    if (node->host) return node;
    free(node);
    return NULL;
}

/// Returns the size in a line "VALUE key flags size", or -1 if the line isn't valid.
static ssize_t value_size(const char *line, const char *key, size_t key_count, size_t limit) {
    if (strncmp(line, "VALUE ", 6) != 0 || strncmp(line + 6, key, key_count) != 0) return -1;
    const char *digits = line + 6 + key_count;
    size_t size = 0;
    for (int field = 0; field < 2; field++) {
        if (*digits++ != ' ' || *digits < '0' || *digits > '9') return -1;
        size = 0;
        while (*digits >= '0' && *digits <= '9') {
            size = size * 10 + (size_t)(*digits++ - '0');
            if (size > UINT32_MAX) return -1;
        }
    }
    return *digits == 0 && size <= limit ? (ssize_t)size : -1;
}

wi_memcached_status wi_memcached_get(wi_memcached_node *node, const char *key, size_t key_count, char **value,
                                     size_t *count) {
    *value = NULL;
    struct iovec parts[] = {part("get ", 4), part(key, key_count), part("\r\n", 2)};
    if (!begin(node) || !send_all(node, parts, 3)) return finish(node, WI_MEMCACHED_FAILED);
    const char *line = read_line(node);
    if (line && strcmp(line, "END") == 0) return finish(node, WI_MEMCACHED_MISS);
    ssize_t size = line ? value_size(line, key, key_count, node->value_limit) : -1;
    char *bytes = size < 0 ? NULL : malloc((size_t)size + 2);
    int is_valid = bytes && read_exactly(node, bytes, (size_t)size + 2) && memcmp(bytes + size, "\r\n", 2) == 0;
    line = is_valid ? read_line(node) : NULL;
    wi_memcached_status status = finish(node, line && strcmp(line, "END") == 0 ? WI_MEMCACHED_OK : WI_MEMCACHED_FAILED);
    if (status != WI_MEMCACHED_OK) {
        free(bytes);
        return status;
    }
    *value = bytes;
    *count = (size_t)size;
    return status;
}

wi_memcached_status wi_memcached_set(wi_memcached_node *node, int adds, const char *key, size_t key_count,
                                     const void *value, size_t count, uint32_t seconds) {
    char numbers[64];
    int length = snprintf(numbers, sizeof numbers, " 0 %u %zu\r\n", seconds, count);
    struct iovec parts[] = {part(adds ? "add " : "set ", 4), part(key, key_count), part(numbers, (size_t)length),
                            part(value, count), part("\r\n", 2)};
    return run(node, parts, 5, "STORED");
}

wi_memcached_status wi_memcached_delete(wi_memcached_node *node, const char *key, size_t key_count) {
    struct iovec parts[] = {part("delete ", 7), part(key, key_count), part("\r\n", 2)};
    return run(node, parts, 3, "DELETED");
}

wi_memcached_status wi_memcached_flush(wi_memcached_node *node) {
    struct iovec parts[] = {part("flush_all\r\n", 11)};
    return run(node, parts, 1, "OK");
}

void wi_memcached_node_close(wi_memcached_node *node) {
    if (!node) return;
    drop(node);
    if (node->addresses) freeaddrinfo(node->addresses);
    free(node->host);
    free(node);
}
#else
typedef int wi_memcached_node_is_off;
#endif
