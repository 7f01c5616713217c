// SPDX-License-Identifier: MIT
#include <libdeflate.h>
#include "CPNG.h"

uint32_t wi_png_check(const uint8_t *bytes, size_t count) { return libdeflate_crc32(0, bytes, count); }

/// Returns a × b / 255, correctly rounded.
static inline unsigned multiply(unsigned a, unsigned b) {
    unsigned product = a * b + 128;
    return (product + (product >> 8)) >> 8;
}

void wi_png_blend_over(uint8_t *below, const uint8_t *above, size_t pixels) {
    for (size_t at = 0; at < pixels * 4; at += 4) {
        unsigned through = 255 - above[at + 3];
        for (size_t channel = at; channel < at + 4; channel++)
            below[channel] = (uint8_t)(above[channel] + multiply(below[channel], through));
    }
}
