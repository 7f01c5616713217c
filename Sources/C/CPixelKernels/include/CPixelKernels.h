// SPDX-License-Identifier: MIT
// The loops that touch every pixel. In C because Swift code for the baseline instruction set takes 1.4 to 2.3
// times as long; every function picks AVX-512, AVX2 or the baseline when it is called.
// Pixels are R, G, B, A; "samples" counts single channels. Nothing here allocates, checks bounds or keeps state.
#pragma once
#include "PixelEffects.h"
#include "PixelLight.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The source pixels that make one output pixel: `count` weights from `weight` on, for pixels from `first` on.
typedef struct {
    uint32_t first;
    uint32_t count;
    uint32_t weight;
} wi_tap;

/// sums[i] = Σ weights[j] × row j, sample i; rows lie `stride` bytes apart.
void wi_vertical_rgba8(float *sums, const uint8_t *rows, size_t stride, const float *weights, size_t count,
                       size_t samples);
void wi_vertical_rgba16(float *sums, const uint16_t *rows, size_t stride, const float *weights, size_t count,
                        size_t samples);

/// As above, added to what `sums` hold.
void wi_vertical_add_rgba8(float *sums, const uint8_t *rows, size_t stride, const float *weights, size_t count,
                           size_t samples);
void wi_vertical_add_rgba16(float *sums, const uint16_t *rows, size_t stride, const float *weights, size_t count,
                            size_t samples);

/// One output row of `width` pixels out of a row of sums; rounded, and colour held within 0...alpha.
void wi_horizontal_rgba8(const float *sums, const wi_tap *taps, const float *weights, size_t width, uint8_t *out);
void wi_horizontal_rgba16(const float *sums, const wi_tap *taps, const float *weights, size_t width, uint16_t *out);

/// colour = round(colour × alpha / 255), in place.
void wi_premultiply_rgba8(uint8_t *pixels, size_t count);
/// colour = round(colour × 255 / alpha); transparent pixels become transparent black. `src` may be `dst`.
void wi_unpremultiply_rgba8(const uint8_t *src, uint8_t *dst, size_t count);
/// Whether every alpha is at its maximum.
bool wi_is_opaque_rgba8(const uint8_t *pixels, size_t count);
bool wi_is_opaque_rgba16(const uint16_t *pixels, size_t count);

/// Copies a picture while turning it: out(x, y) is the pixel at origin + x × step_x + y × step_y bytes.
void wi_turn_32(const uint8_t *origin, ptrdiff_t step_x, ptrdiff_t step_y, uint8_t *out, size_t out_stride,
                size_t width, size_t height);
void wi_turn_64(const uint8_t *origin, ptrdiff_t step_x, ptrdiff_t step_y, uint8_t *out, size_t out_stride,
                size_t width, size_t height);

/// Cuts a row to a shape and draws its border. `outer` and `inner` hold the part of each pixel (0...1) inside the
/// outer and the inner edge of the border; `border` is premultiplied, in the picture's own range.
void wi_cut_rgba8(const uint8_t *src, uint8_t *dst, const float *outer, const float *inner, const float *border,
                  size_t count);
void wi_cut_rgba16(const uint16_t *src, uint16_t *dst, const float *outer, const float *inner, const float *border,
                   size_t count);

/// Undoes the filters of `rows` PNG rows of 8 bits a sample, each behind its filter's number, and writes R, G, B, A, alpha
/// not multiplied in. `above` is the finished row before the first one, zeros where there is none. Up to 4 bytes behind
/// `raw` are read and not used. The rows done: fewer where a filter has no such number.
size_t wi_unfilter_rgb8(const uint8_t *raw, size_t width, size_t rows, const uint8_t *above, uint8_t *out,
                        size_t stride);
size_t wi_unfilter_rgba8(const uint8_t *raw, size_t width, size_t rows, const uint8_t *above, uint8_t *out,
                         size_t stride);
/// Undoes the filters of `rows` PNG rows of `count` bytes where they lie, each behind its filter's number; `step` is 1 or
/// 2, the bytes of a pixel (1 for less). `above` is the finished row before the first one, zeros where there is none. The
/// rows done: fewer where a filter has no such number.
size_t wi_unfilter_bytes(uint8_t *raw, size_t count, size_t rows, size_t step, const uint8_t *above);
/// One row of indices of 1, 2, 4 or 8 bits as the colours of a table of 256 in memory order.
void wi_spread_indices(const uint8_t *row, size_t bits, const uint32_t *colors, uint8_t *out, size_t width);
/// One row of grey and alpha as R, G, B, A.
void wi_spread_gray_alpha(const uint8_t *row, uint8_t *out, size_t width);
