// SPDX-License-Identifier: MIT
// The variadic functions of GNU libmicrohttpd, which Swift can't call.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// The settings of an HTTP server.
typedef struct {
    /// The listening socket, which the server owns after it started.
    int socket;
    /// The maximum number of connections.
    unsigned connections;
    /// The maximum number of connections from one address, or 0 for no limit.
    unsigned connections_per_address;
    /// The time in seconds after which a silent connection is closed.
    unsigned timeout;
    /// The number of threads for connections.
    unsigned threads;
    /// The maximum memory of a connection in bytes, which limits the request head.
    size_t memory;
} wi_http_settings;

/// Starts an HTTP server. The pointers to functions have the types of libmicrohttpd: `MHD_AccessHandlerCallback`, the
/// callback of `MHD_OPTION_URI_LOG_CALLBACK`, and `MHD_RequestCompletedCallback`. Returns the `struct MHD_Daemon`, or
/// `NULL` on failure.
void *wi_http_start(const wi_http_settings *settings, void *handler, void *target, void *completed, void *context);
/// Writes the numeric address of the client, or `unix` for a Unix socket.
void wi_http_peer(void *connection, char *text, size_t size);
/// Returns the socket of a connection, or -1 if there is none.
int wi_http_socket(void *connection);
/// Returns the number of open connections.
unsigned wi_http_connections(void *server);

/// Descriptors that notice when the other ends of sockets close their connections (epoll).
typedef struct {
    int poll;
    int wake;
} wi_watch;

/// Creates the descriptors. Returns 0 or the negated errno.
int wi_watch_create(wi_watch *watch);
/// Reports `number`, which must not be 0, at most once after the other end of a socket closes the connection or its
/// sending direction. Returns 0 or the negated errno. Any thread can call this function.
int wi_watch_add(wi_watch watch, int socket, uint64_t number);
/// Stops watching a socket. Any thread can call this function.
void wi_watch_remove(wi_watch watch, int socket);
/// Waits for reports. Returns their number. The number 0 means that another thread called wi_watch_wake.
int wi_watch_wait(wi_watch watch, uint64_t *numbers, int capacity);
/// Ends a wait. Any thread can call this function.
void wi_watch_wake(wi_watch watch);
/// Closes the descriptors.
void wi_watch_close(wi_watch watch);
