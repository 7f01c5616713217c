// SPDX-License-Identifier: MIT
#pragma once
#include <jxl/memory_manager.h>
#include <stdatomic.h>
#include <stddef.h>

/// Counts what libjxl holds and refuses more than a limit.
typedef struct {
    atomic_size_t used;
    size_t limit;
    atomic_int has_refused;
} wi_jxl_budget;

JxlMemoryManager wi_jxl_manager(wi_jxl_budget *budget);
