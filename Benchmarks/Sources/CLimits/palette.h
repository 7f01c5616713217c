// SPDX-License-Identifier: MIT
// The palette of the images with one byte per pixel, which has 6 × 7 × 6 colors.
#pragma once
#include <stdint.h>

enum { wi_palette_count = 252 };

static inline uint8_t wi_palette_entry(const uint8_t *pixel) {
    return (uint8_t)((pixel[0] + 25) / 51 * 42 + (pixel[1] * 6 + 127) / 255 * 6 + (pixel[2] + 25) / 51);
}

static inline void wi_palette_colour(int entry, uint8_t colour[3]) {
    colour[0] = (uint8_t)(entry / 42 * 51);
    colour[1] = (uint8_t)(entry / 6 % 7 * 255 / 6);
    colour[2] = (uint8_t)(entry % 6 * 51);
}
