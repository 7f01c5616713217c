// SPDX-License-Identifier: MIT
#include "CPixelKernels.h"
#include <string.h>

// Use tiles of 32 × 32. When rows become columns, the cache lines of the source stay in the cache until all their
// pixels are used.
#define WI_TURN(name, bytes)                                                                                          \
    void name(const uint8_t *origin, ptrdiff_t step_x, ptrdiff_t step_y, uint8_t *out, size_t out_stride,             \
              size_t width, size_t height) {                                                                          \
        const size_t tile = 32;                                                                                       \
        for (size_t top = 0; top < height; top += tile)                                                               \
            for (size_t left = 0; left < width; left += tile) {                                                       \
                size_t bottom = height - top < tile ? height : top + tile;                                            \
                size_t right = width - left < tile ? width : left + tile;                                             \
                for (size_t y = top; y < bottom; y++) {                                                               \
                    const uint8_t *from = origin + (ptrdiff_t)y * step_y + (ptrdiff_t)left * step_x;                  \
                    uint8_t *to = out + y * out_stride + left * (bytes);                                              \
                    for (size_t x = left; x < right; x++, from += step_x, to += (bytes)) memcpy(to, from, bytes);     \
                }                                                                                                     \
            }                                                                                                         \
    }

WI_TURN(wi_turn_32, 4)
WI_TURN(wi_turn_64, 8)
