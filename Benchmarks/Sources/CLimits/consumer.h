// SPDX-License-Identifier: MIT
#pragma once
#include "CLimits.h"

/// Receives the body of request `number`. Returns a nonzero value if it takes ownership of the memory.
typedef int (*wi_consumer)(void *context, int number, uint8_t *bytes, size_t count);

int wi_load_all(
    const char *const *urls, int urlCount, int total, int connections, wi_consumer consume, void *context,
    wi_limit_loaded *loaded);
