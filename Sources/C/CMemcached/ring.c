// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <libmemcached/memcached.h>
#include "CMemcached.h"

struct wi_memcached_ring;

wi_memcached_ring *wi_memcached_ring_open(void) {
    memcached_st *ring = memcached_create(NULL);
    if (ring && memcached_behavior_set(ring, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1) != MEMCACHED_SUCCESS) {
        memcached_free(ring);
        return NULL;
    }
    return (wi_memcached_ring *)ring;
}

int wi_memcached_ring_add(wi_memcached_ring *ring, const char *host, uint16_t port, uint32_t weight) {
    return memcached_server_add_with_weight((memcached_st *)ring, host, port, weight) == MEMCACHED_SUCCESS;
}

uint32_t wi_memcached_ring_index(const wi_memcached_ring *ring, const char *key, size_t count) {
    return memcached_generate_hash((const memcached_st *)ring, key, count);
}

void wi_memcached_ring_close(wi_memcached_ring *ring) { memcached_free((memcached_st *)ring); }
#else
typedef int wi_memcached_ring_is_off;
#endif
