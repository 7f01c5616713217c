// SPDX-License-Identifier: MIT
// For tests only: the server's side of TLS, coders of HTTP content codings, and a resolver that does as told,
// and what of posix_spawn Swift does not see.
#pragma once
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct wi_tls_server wi_tls_server;
typedef struct wi_tls_connection wi_tls_connection;

/// A server's side of TLS with ALPN (h2, http/1.1) over PEM files; NULL on failure.
wi_tls_server *wi_tls_server_create(const char *certificate, const char *key);
/// Lets in only clients with a certificate of `authority` (PEM file); false on failure.
bool wi_tls_server_require_certificate(wi_tls_server *server, const char *authority);
/// Speaks TLS 1.2 at most; false on failure.
bool wi_tls_server_limit_version(wi_tls_server *server);
void wi_tls_server_destroy(wi_tls_server *server);
/// The handshake over a blocking socket; NULL where it fails. The socket stays the caller's.
wi_tls_connection *wi_tls_accept(wi_tls_server *server, int descriptor);
/// Whether the peer chose h2.
bool wi_tls_is_http2(wi_tls_connection *connection);
/// Bytes read; 0 at the end, -1 on failure.
long wi_tls_read(wi_tls_connection *connection, void *bytes, size_t count);
/// Writes all of it; false where the peer is gone.
bool wi_tls_write(wi_tls_connection *connection, const void *bytes, size_t count);
/// Sends close_notify and leaves the connection open.
void wi_tls_say_goodbye(wi_tls_connection *connection);
/// Says goodbye where `orderly`, and frees.
void wi_tls_end(wi_tls_connection *connection, bool orderly);

/// Deflates into `target`: `window_bits` 31 for gzip, 15 for zlib, -15 for raw. Bytes written; 0 on failure.
size_t wi_deflate(const void *source, size_t count, void *target, size_t room, int window_bits);
/// Bytes written; 0 on failure.
size_t wi_brotli(const void *source, size_t count, void *target, size_t room);
/// Bytes written; 0 on failure.
size_t wi_zstd(const void *source, size_t count, void *target, size_t room);

/// The process's getaddrinfo is replaced: names under `.stuck.test` are not answered while names are held; names
/// under `.at.test` give the addresses their labels tell, in order (`127-0-0-1.0--1.at.test`: 127.0.0.1, then ::1,
/// with - for . or :). All others go to the system. Returns how many lookups of stuck names have begun.
int wi_names_begun(void);
/// Holds names under `.stuck.test` from now on.
void wi_names_hold(void);
/// Answers every held lookup with "no such host".
void wi_names_release(void);

/// The process's `stat` and its relatives are replaced: calls for a path are counted for the calling thread. Watches
/// `path`, which has to live until another path or NULL is watched.
void wi_stat_watch(const char *path);
/// Calls of the calling thread for the watched path.
int wi_stat_calls(void);

/// The program begins in `folder`.
int wi_spawn_in(posix_spawn_file_actions_t *actions, const char *folder);
/// The program gets no descriptor from `first` on.
int wi_spawn_close_from(posix_spawn_file_actions_t *actions, int first);
