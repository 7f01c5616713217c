// SPDX-License-Identifier: MIT
// Helpers for tests: the server side of TLS, encoders for HTTP content codings, a scripted resolver, and the functions
// of posix_spawn that Swift can't see.
#pragma once
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct wi_tls_server wi_tls_server;
typedef struct wi_tls_connection wi_tls_connection;

/// Creates the server side of TLS with ALPN (h2, http/1.1) from PEM files. Returns NULL on failure.
wi_tls_server *wi_tls_server_create(const char *certificate, const char *key);
/// Requires clients to present a certificate that `authority` (a PEM file) signed. Returns `false` on failure.
bool wi_tls_server_require_certificate(wi_tls_server *server, const char *authority);
/// Requests a certificate from clients, and accepts clients without one. Returns `false` on failure.
bool wi_tls_server_request_certificate(wi_tls_server *server, const char *authority);
/// Limits connections to TLS 1.2. Returns `false` on failure.
bool wi_tls_server_limit_version(wi_tls_server *server);
void wi_tls_server_destroy(wi_tls_server *server);
/// Performs the handshake over a blocking socket. Returns NULL on failure. The caller still owns the socket.
wi_tls_connection *wi_tls_accept(wi_tls_server *server, int descriptor);
/// Returns whether the peer presented a certificate.
bool wi_tls_has_certificate(wi_tls_connection *connection);
/// Returns whether the peer chose h2.
bool wi_tls_is_http2(wi_tls_connection *connection);
/// Returns the number of bytes read, 0 at the end of the data, or -1 on failure.
long wi_tls_read(wi_tls_connection *connection, void *bytes, size_t count);
/// Writes all bytes. Returns `false` if the peer has closed the connection.
bool wi_tls_write(wi_tls_connection *connection, const void *bytes, size_t count);
/// Sends close_notify and leaves the connection open.
void wi_tls_say_goodbye(wi_tls_connection *connection);
/// Frees the connection. If `orderly` is `true`, this function sends close_notify first.
void wi_tls_end(wi_tls_connection *connection, bool orderly);

/// Compresses into `target` with deflate. `window_bits` is 31 for gzip, 15 for zlib, and -15 for raw deflate. Returns
/// the number of bytes written, or 0 on failure.
size_t wi_deflate(const void *source, size_t count, void *target, size_t room, int window_bits);
/// Compresses into `target` with Brotli. Returns the number of bytes written, or 0 on failure.
size_t wi_brotli(const void *source, size_t count, void *target, size_t room);
/// Compresses into `target` with Zstandard. Returns the number of bytes written, or 0 on failure.
size_t wi_zstd(const void *source, size_t count, void *target, size_t room);

/// Returns the number of lookups of names under `.stuck.test` that have begun.
///
/// This module replaces the `getaddrinfo` function of the process. Lookups of names under `.stuck.test` block while
/// names are held, and then fail. Names under `.at.test` resolve to the addresses that their labels encode, in order.
/// For example, `127-0-0-1.0--1.at.test` resolves to 127.0.0.1 and then ::1, because a hyphen represents a period or a
/// colon. In names under `.rebind.test`, the first label is the result of the first lookup, and the second label that of
/// all later lookups. Further labels only make the name unique. All other names go to the system's resolver.
int wi_names_begun(void);
/// Starts to hold lookups of names under `.stuck.test`.
void wi_names_hold(void);
/// Fails all held lookups with "no such host" and stops holding new ones.
void wi_names_release(void);

/// Returns the number of connections to a port of 11.22.33.44.
///
/// This module replaces the `connect` function of the process. Connections to the public address 11.22.33.44 lead to
/// 127.0.0.1, so a local server can have a public address.
int wi_public_connections(unsigned short port);

/// Starts to count the status queries of the calling thread for `path`, which must remain valid until the function is
/// called again with another path or NULL.
///
/// This module replaces `stat` and related functions of the process.
void wi_stat_watch(const char *path);
/// Returns the number of queries of the calling thread for the watched path.
int wi_stat_calls(void);

/// Sets the working directory of the program to `folder`.
int wi_spawn_in(posix_spawn_file_actions_t *actions, const char *folder);
/// Closes all descriptors from `first` up in the program.
int wi_spawn_close_from(posix_spawn_file_actions_t *actions, int first);
