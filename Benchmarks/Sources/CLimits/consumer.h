// SPDX-License-Identifier: MIT
#pragma once
#include "CLimits.h"

/// Takes the body of request `number`; true when it has taken the memory over.
typedef int (*wi_consumer)(void *context, int number, uint8_t *bytes, size_t count);

int wi_load_all(
    const char *const *urls, int urlCount, int total, int connections, wi_consumer consume, void *context,
    wi_limit_loaded *loaded);
