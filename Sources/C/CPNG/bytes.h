// SPDX-License-Identifier: MIT
#pragma once
#include <stdint.h>

/// Returns the big-endian number of four bytes, as in the chunks of a PNG file.
static inline uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}
