// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#define _GNU_SOURCE
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "CMicrohttpd.h"

// The server passes its paths to the handler without decoding, because signatures cover the encoded path.
static size_t keep_encoding(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    size_t count = 0;
    while (text[count]) count++;
    return count;
}

void *wi_http_start(const wi_http_settings *settings, void *handler, void *target, void *completed, void *context) {
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, (MHD_AccessHandlerCallback)handler, context,
        MHD_OPTION_LISTEN_SOCKET, settings->socket,
        MHD_OPTION_CONNECTION_LIMIT, settings->connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, settings->connections_per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, settings->timeout,
        MHD_OPTION_THREAD_POOL_SIZE, settings->threads > 1 ? settings->threads : 0,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->memory,
        MHD_OPTION_URI_LOG_CALLBACK, target, context,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_encoding, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_END);
}

void wi_http_peer(void *connection, char *text, size_t size) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info && info->client_addr) {
        const struct sockaddr *name = info->client_addr;
        socklen_t count = name->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
                          : name->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                        : 0;
        if (count && getnameinfo(name, count, text, (socklen_t)size, NULL, 0, NI_NUMERICHOST) == 0) return;
    }
    snprintf(text, size, "unix");
}

int wi_http_socket(void *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

unsigned wi_http_connections(void *server) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

int wi_watch_create(wi_watch *watch) {
    watch->poll = epoll_create1(EPOLL_CLOEXEC);
    watch->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    if (watch->poll >= 0 && watch->wake >= 0 && epoll_ctl(watch->poll, EPOLL_CTL_ADD, watch->wake, &event) == 0) return 0;
    int problem = errno;
    wi_watch_close(*watch);
    return -problem;
}

int wi_watch_add(wi_watch watch, int socket, uint64_t number) {
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLONESHOT, .data.u64 = number};
    return epoll_ctl(watch.poll, EPOLL_CTL_ADD, socket, &event) == 0 ? 0 : -errno;
}

void wi_watch_remove(wi_watch watch, int socket) {
    struct epoll_event event = {0};
    epoll_ctl(watch.poll, EPOLL_CTL_DEL, socket, &event);
}

int wi_watch_wait(wi_watch watch, uint64_t *numbers, int capacity) {
    struct epoll_event events[64];
    int count = epoll_wait(watch.poll, events, capacity < 64 ? capacity : 64, -1);
    for (int index = 0; index < count; index++) numbers[index] = events[index].data.u64;
    return count > 0 ? count : 0;
}

void wi_watch_wake(wi_watch watch) { (void)eventfd_write(watch.wake, 1); }

void wi_watch_close(wi_watch watch) {
    if (watch.poll >= 0) close(watch.poll);
    if (watch.wake >= 0) close(watch.wake);
}
#else
typedef int wi_http_is_off;
#endif
