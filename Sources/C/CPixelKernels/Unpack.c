// SPDX-License-Identifier: MIT
// Kernels for PNG rows with at most two bytes per pixel. Filters are reversed in place (PNG third edition, section 9),
// and a second step converts the rows to R, G, B, A.
#include "Dispatch.h"
#include <string.h>

typedef uint8_t wi_bytes16 __attribute__((vector_size(16)));

WI_INLINE wi_bytes16 load16(const uint8_t *p) {
    wi_bytes16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

WI_INLINE void undo_up(uint8_t *row, const uint8_t *above, size_t count) {
    for (size_t at = 0; at < count; at++) row[at] = (uint8_t)(row[at] + above[at]);
}

/// Computes prefix sums from the left: sixteen bytes in three or four steps, plus the previous sum.
WI_INLINE void undo_sub(uint8_t *row, size_t count, size_t step) {
    const wi_bytes16 none = {0};
    wi_bytes16 left = none;
    size_t at = 0;
    for (; at + 16 <= count; at += 16) {
        wi_bytes16 v = load16(row + at);
        if (step == 1)
            v += __builtin_shufflevector(none, v, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
        v += __builtin_shufflevector(none, v, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
        v += __builtin_shufflevector(none, v, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
        v += __builtin_shufflevector(none, v, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        v += left;
        memcpy(row + at, &v, sizeof v);
        left = step == 1
                   ? __builtin_shufflevector(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15)
                   : __builtin_shufflevector(v, v, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15);
    }
    for (; at < count; at++) row[at] = (uint8_t)(row[at] + (at < step ? 0 : row[at - step]));
}

WI_INLINE void undo_average(uint8_t *row, const uint8_t *above, size_t count, size_t step) {
    uint32_t left[2] = {0};
    for (size_t at = 0; at < count; at += step)
        for (size_t c = 0; c < step; c++)
            left[c] = row[at + c] = (uint8_t)(row[at + c] + ((left[c] + above[at + c]) >> 1));
}

WI_INLINE int32_t magnitude(int32_t v) { return v < 0 ? -v : v; }

WI_INLINE void undo_paeth(uint8_t *row, const uint8_t *above, size_t count, size_t step) {
    int32_t left[2] = {0}, corner[2] = {0};
    for (size_t at = 0; at < count; at += step) {
        for (size_t c = 0; c < step; c++) {
            int32_t up = above[at + c], to_left = up - corner[c], to_up = left[c] - corner[c];
            int32_t of_left = magnitude(to_left), of_up = magnitude(to_up), of_corner = magnitude(to_left + to_up);
            int32_t nearest = of_up <= of_corner ? up : corner[c];
            nearest = of_left <= of_up && of_left <= of_corner ? left[c] : nearest;
            left[c] = row[at + c] = (uint8_t)(row[at + c] + nearest);
            corner[c] = up;
        }
    }
}

WI_INLINE size_t undo_rows(uint8_t *raw, size_t count, size_t rows, size_t step, const uint8_t *above) {
    for (size_t row = 0; row < rows; row++) {
        switch (raw[0]) {
        case 0: break;
        case 1: undo_sub(raw + 1, count, step); break;
        case 2: undo_up(raw + 1, above, count); break;
        case 3: undo_average(raw + 1, above, count, step); break;
        case 4: undo_paeth(raw + 1, above, count, step); break;
        default: return row;
        }
        above = raw + 1;
        raw += count + 1;
    }
    return rows;
}

WI_INLINE size_t wi_unfilter_bytes_body(uint8_t *raw, size_t count, size_t rows, size_t step, const uint8_t *above) {
    return step == 1 ? undo_rows(raw, count, rows, 1, above) : undo_rows(raw, count, rows, 2, above);
}

/// Converts pixels that share a byte. The first pixel is in the highest bits.
WI_INLINE void spread(const uint8_t *row, size_t bits, const uint32_t *colors, uint8_t *out, size_t width) {
    const size_t pixels = 8 / bits, mask = (1u << bits) - 1;
    for (size_t at = 0; at < width; row++) {
        size_t n = width - at < pixels ? width - at : pixels;
        for (size_t i = 0; i < n; i++) memcpy(out + (at + i) * 4, colors + ((size_t)*row >> (8 - bits * (i + 1)) & mask), 4);
        at += n;
    }
}

WI_INLINE void wi_spread_indices_body(const uint8_t *row, size_t bits, const uint32_t *colors, uint8_t *out,
                                      size_t width) {
    switch (bits) {
    case 1: spread(row, 1, colors, out, width); break;
    case 2: spread(row, 2, colors, out, width); break;
    case 4: spread(row, 4, colors, out, width); break;
    default: spread(row, 8, colors, out, width); break;
    }
}

WI_INLINE void wi_spread_gray_alpha_body(const uint8_t *row, uint8_t *out, size_t width) {
    for (size_t at = 0; at < width; at++) {
        uint8_t gray = row[at * 2];
        out[at * 4] = out[at * 4 + 1] = out[at * 4 + 2] = gray;
        out[at * 4 + 3] = row[at * 2 + 1];
    }
}

WI_DISPATCH(size_t, wi_unfilter_bytes, (uint8_t *raw, size_t count, size_t rows, size_t step, const uint8_t *above),
            (raw, count, rows, step, above))
WI_DISPATCH(void, wi_spread_indices,
            (const uint8_t *row, size_t bits, const uint32_t *colors, uint8_t *out, size_t width),
            (row, bits, colors, out, width))
WI_DISPATCH(void, wi_spread_gray_alpha, (const uint8_t *row, uint8_t *out, size_t width), (row, out, width))
