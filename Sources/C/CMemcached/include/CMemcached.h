// SPDX-License-Identifier: MIT
// Connections to single memcached servers, and the ring that maps keys to servers (libmemcached).
//
// The connections use the text protocol without libmemcached, because libmemcached 1.1.4 writes outside of its memory if
// a server announces a value of 2^64 - 2 bytes, and because its timeouts apply to each wait instead of the operation.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_MEMCACHED_OK = 0,
    /// The server has no value for the key.
    WI_MEMCACHED_MISS = 1,
    /// A value exists, so the server didn't add another one.
    WI_MEMCACHED_EXISTS = 2,
    /// The server is available but doesn't store the value, for example because the value is too large.
    WI_MEMCACHED_REFUSED = 3,
    /// The connection failed, a timeout expired, or the response isn't valid.
    WI_MEMCACHED_FAILED = -1,
} wi_memcached_status;

/// A ring that distributes keys with the weighted ketama algorithm. One thread at a time may use it.
typedef struct wi_memcached_ring wi_memcached_ring;

/// Creates an empty ring. Returns `NULL` if memory can't be allocated. Free the result with `wi_memcached_ring_close`.
wi_memcached_ring *wi_memcached_ring_open(void);
/// Adds a server, whose index is the number of servers before. Opens no connection. Returns 0 on failure.
int wi_memcached_ring_add(wi_memcached_ring *ring, const char *host, uint16_t port, uint32_t weight);
/// Returns the index of the server of a key. The ring must have at least one server.
uint32_t wi_memcached_ring_index(const wi_memcached_ring *ring, const char *key, size_t count);
void wi_memcached_ring_close(wi_memcached_ring *ring);

/// A connection to one server. One thread at a time may use it. The connection is opened when it's needed, and again
/// after each failure.
typedef struct wi_memcached_node wi_memcached_node;

/// Creates a connection.
///
/// `connect_ms` limits the time to connect and `operation_ms` the rest of an operation, in milliseconds. Values with
/// more than `value_limit` bytes count as invalid responses, because a server can announce a value of any size.
///
/// Returns `NULL` if memory can't be allocated. Free the result with `wi_memcached_node_close`.
wi_memcached_node *wi_memcached_node_open(const char *host, uint16_t port, int connect_ms, int operation_ms,
                                          size_t value_limit);
/// Reads a value. On success, free `*value` with `free`.
wi_memcached_status wi_memcached_get(wi_memcached_node *node, const char *key, size_t key_count, char **value,
                                     size_t *count);
/// Stores a value. If `adds` isn't 0, an existing value stays.
wi_memcached_status wi_memcached_set(wi_memcached_node *node, int adds, const char *key, size_t key_count,
                                     const void *value, size_t count, uint32_t seconds);
/// Removes a value.
wi_memcached_status wi_memcached_delete(wi_memcached_node *node, const char *key, size_t key_count);
/// Removes all values of the server.
wi_memcached_status wi_memcached_flush(wi_memcached_node *node);
void wi_memcached_node_close(wi_memcached_node *node);
