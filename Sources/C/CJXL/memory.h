// SPDX-License-Identifier: MIT
#pragma once
#include <jxl/memory_manager.h>
#include <stdatomic.h>
#include <stddef.h>

/// A memory budget that counts the memory of libjxl and rejects allocations beyond a limit.
typedef struct {
    atomic_size_t used;
    size_t limit;
    atomic_int has_refused;
} wi_jxl_budget;

JxlMemoryManager wi_jxl_manager(wi_jxl_budget *budget);
