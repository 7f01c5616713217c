// SPDX-License-Identifier: MIT
// Kernels that reverse the filters of PNG rows (PNG third edition, section 9) and convert the rows to R, G, B, A.
#include "Dispatch.h"
#include <string.h>

typedef uint8_t wi_bytes16 __attribute__((vector_size(16)));
typedef int16_t wi_words4 __attribute__((vector_size(8)));
typedef uint8_t wi_bytes4 __attribute__((vector_size(4)));

WI_INLINE wi_bytes16 load16(const uint8_t *p) {
    wi_bytes16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

WI_INLINE wi_bytes4 load4(const uint8_t *p) {
    wi_bytes4 v;
    memcpy(&v, p, sizeof v);
    return v;
}

/// Loads four pixels. The fourth samples of opaque pixels are 0 and become 255 when they're stored.
WI_INLINE wi_bytes16 load_pixels(const uint8_t *p, int channels) {
    wi_bytes16 v = load16(p);
    if (channels == 4) return v;
    return __builtin_shufflevector(v, (wi_bytes16){0}, 0, 1, 2, 16, 3, 4, 5, 16, 6, 7, 8, 16, 9, 10, 11, 16);
}

WI_INLINE void store_pixels(uint8_t *out, wi_bytes16 v, int channels) {
    static const wi_bytes16 alpha = {0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};
    if (channels == 3) v |= alpha;
    memcpy(out, &v, sizeof v);
}

WI_INLINE void store_pixel(uint8_t *out, wi_bytes4 v, int channels) {
    memcpy(out, &v, sizeof v);
    if (channels == 3) out[3] = 255;
}

/// Copies a row, or adds the row above.
WI_INLINE void unfilter_up(const uint8_t *raw, const uint8_t *above, size_t width, int channels, uint8_t *out,
                           int adds_above) {
    size_t at = 0;
    // Loads of three-channel pixels read four bytes more than they use.
    for (; at + 6 <= width; at += 4) {
        wi_bytes16 v = load_pixels(raw + at * channels, channels);
        if (adds_above) v += load16(above + at * 4);
        store_pixels(out + at * 4, v, channels);
    }
    for (; at < width; at++) {
        wi_bytes4 v = load4(raw + at * channels);
        if (adds_above) v += load4(above + at * 4);
        store_pixel(out + at * 4, v, channels);
    }
}

/// Computes prefix sums from the left: four pixels in two steps, plus the previous sum.
WI_INLINE void unfilter_sub(const uint8_t *raw, size_t width, int channels, uint8_t *out) {
    const wi_bytes16 none = {0};
    wi_bytes16 left = none;
    size_t at = 0;
    for (; at + 6 <= width; at += 4) {
        wi_bytes16 v = load_pixels(raw + at * channels, channels);
        v += __builtin_shufflevector(none, v, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
        v += __builtin_shufflevector(none, v, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        v += left;
        store_pixels(out + at * 4, v, channels);
        left = __builtin_shufflevector(v, v, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15);
    }
    wi_bytes4 last = {left[0], left[1], left[2], left[3]};
    for (; at < width; at++) {
        last += load4(raw + at * channels);
        store_pixel(out + at * 4, last, channels);
    }
}

WI_INLINE void unfilter_average(const uint8_t *raw, const uint8_t *above, size_t width, int channels, uint8_t *out) {
    wi_bytes4 left = {0};
    for (size_t at = 0; at < width; at++) {
        wi_words4 sum = __builtin_convertvector(left, wi_words4) +
                        __builtin_convertvector(load4(above + at * 4), wi_words4);
        left = load4(raw + at * channels) + __builtin_convertvector(sum >> 1, wi_bytes4);
        store_pixel(out + at * 4, left, channels);
    }
}

WI_INLINE wi_words4 magnitude(wi_words4 v) {
    wi_words4 sign = v >> 15;
    return (v ^ sign) - sign;
}

WI_INLINE void unfilter_paeth(const uint8_t *raw, const uint8_t *above, size_t width, int channels, uint8_t *out) {
    wi_words4 left = {0}, corner = {0};
    for (size_t at = 0; at < width; at++) {
        wi_words4 up = __builtin_convertvector(load4(above + at * 4), wi_words4);
        wi_words4 to_left = up - corner, to_up = left - corner;
        wi_words4 of_left = magnitude(to_left), of_up = magnitude(to_up), of_corner = magnitude(to_left + to_up);
        wi_words4 takes_up = of_up <= of_corner;
        wi_words4 nearest = (up & takes_up) | (corner & ~takes_up);
        wi_words4 takes_left = (of_left <= of_up) & (of_left <= of_corner);
        nearest = (left & takes_left) | (nearest & ~takes_left);
        wi_bytes4 v = load4(raw + at * channels) + __builtin_convertvector(nearest, wi_bytes4);
        store_pixel(out + at * 4, v, channels);
        left = __builtin_convertvector(v, wi_words4);
        corner = up;
    }
}

WI_INLINE size_t unfilter_body(const uint8_t *raw, size_t width, size_t rows, int channels, const uint8_t *above,
                               uint8_t *out, size_t stride) {
    for (size_t row = 0; row < rows; row++) {
        switch (raw[0]) {
        case 0: unfilter_up(raw + 1, above, width, channels, out, 0); break;
        case 1: unfilter_sub(raw + 1, width, channels, out); break;
        case 2: unfilter_up(raw + 1, above, width, channels, out, 1); break;
        case 3: unfilter_average(raw + 1, above, width, channels, out); break;
        case 4: unfilter_paeth(raw + 1, above, width, channels, out); break;
        default: return row;
        }
        raw += width * channels + 1;
        above = out;
        out += stride;
    }
    return rows;
}

#define wi_unfilter_rgb8_body(raw, width, rows, above, out, stride) \
    unfilter_body(raw, width, rows, 3, above, out, stride)
#define wi_unfilter_rgba8_body(raw, width, rows, above, out, stride) \
    unfilter_body(raw, width, rows, 4, above, out, stride)

WI_DISPATCH(size_t, wi_unfilter_rgb8,
            (const uint8_t *raw, size_t width, size_t rows, const uint8_t *above, uint8_t *out, size_t stride),
            (raw, width, rows, above, out, stride))
WI_DISPATCH(size_t, wi_unfilter_rgba8,
            (const uint8_t *raw, size_t width, size_t rows, const uint8_t *above, uint8_t *out, size_t stride),
            (raw, width, rows, above, out, stride))
