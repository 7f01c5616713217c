// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "memory.h"
#include <stdlib.h>

/// The size of the header in front of each block, which stores the size of the block. It has the strictest alignment.
enum { HEAD = 16 };

static void *take(void *opaque, size_t size) {
    wi_jxl_budget *budget = opaque;
    if (size > budget->limit) {
        atomic_store(&budget->has_refused, 1);
        return NULL;
    }
    size_t before = atomic_fetch_add(&budget->used, size);
    unsigned char *block = before > budget->limit - size ? NULL : malloc(size + HEAD);
    if (!block) {
        atomic_fetch_sub(&budget->used, size);
        atomic_store(&budget->has_refused, 1);
        return NULL;
    }
    *(size_t *)block = size;
    return block + HEAD;
}

static void give(void *opaque, void *address) {
    wi_jxl_budget *budget = opaque;
    if (!address) return;
    unsigned char *block = (unsigned char *)address - HEAD;
    atomic_fetch_sub(&budget->used, *(size_t *)block);
    free(block);
}

JxlMemoryManager wi_jxl_manager(wi_jxl_budget *budget) {
    JxlMemoryManager manager = {budget, take, give};
    return manager;
}
#endif
