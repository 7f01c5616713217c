// SPDX-License-Identifier: MIT
// The loops that process every pixel. They're written in C, because Swift code for the baseline instruction set takes
// 1.4 to 2.3 times as long. At each call, the functions select AVX-512, AVX2, or the baseline. Pixels are R, G, B, A,
// and “samples” are single channels. Except for the comparison of images in PixelVisual.h, these functions don't
// allocate memory, check bounds, or keep state.
#pragma once
#include "PixelChroma.h"
#include "PixelEffects.h"
#include "PixelLight.h"
#include "PixelRender.h"
#include "PixelResample.h"
#include "PixelVisual.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The source pixels for one output pixel: `count` pixels from `first` on, with the weights from `weight` on.
typedef struct {
    uint32_t first;
    uint32_t count;
    uint32_t weight;
} wi_tap;

/// Computes sums[i] = Σ weights[j] × row j, sample i. `stride` is the distance between two rows in bytes.
void wi_vertical_rgba8(float *sums, const uint8_t *rows, size_t stride, const float *weights, size_t count,
                       size_t samples);
void wi_vertical_rgba16(float *sums, const uint16_t *rows, size_t stride, const float *weights, size_t count,
                        size_t samples);

/// Adds the same sums to the contents of `sums`.
void wi_vertical_add_rgba8(float *sums, const uint8_t *rows, size_t stride, const float *weights, size_t count,
                           size_t samples);
void wi_vertical_add_rgba16(float *sums, const uint16_t *rows, size_t stride, const float *weights, size_t count,
                            size_t samples);

/// Computes one output row of `width` pixels from a row of sums. The results are rounded, and colors are clamped to
/// 0...alpha.
void wi_horizontal_rgba8(const float *sums, const wi_tap *taps, const float *weights, size_t width, uint8_t *out);
void wi_horizontal_rgba16(const float *sums, const wi_tap *taps, const float *weights, size_t width, uint16_t *out);

/// Computes color = round(color × alpha / 255) in place.
void wi_premultiply_rgba8(uint8_t *pixels, size_t count);
/// Computes color = round(color × 255 / alpha). Transparent pixels become transparent black. `src` and `dst` may be
/// the same buffer.
void wi_unpremultiply_rgba8(const uint8_t *src, uint8_t *dst, size_t count);
/// Limits the colors of premultiplied pixels to their alpha, which lossy files can exceed.
void wi_limit_rgba8(uint8_t *pixels, size_t count);
void wi_limit_rgba16(uint16_t *pixels, size_t count);
/// Returns whether every alpha is at its maximum.
bool wi_is_opaque_rgba8(const uint8_t *pixels, size_t count);
bool wi_is_opaque_rgba16(const uint16_t *pixels, size_t count);

/// Copies an image and changes its orientation. out(x, y) is the pixel at origin + x × step_x + y × step_y bytes.
void wi_turn_32(const uint8_t *origin, ptrdiff_t step_x, ptrdiff_t step_y, uint8_t *out, size_t out_stride,
                size_t width, size_t height);
void wi_turn_64(const uint8_t *origin, ptrdiff_t step_x, ptrdiff_t step_y, uint8_t *out, size_t out_stride,
                size_t width, size_t height);

/// Clips a row to a shape and draws its border. `outer` and `inner` contain the coverage of each pixel (0 to 1) by the
/// areas inside the outer and the inner edge of the border. `border` is premultiplied, in the range of the samples.
void wi_cut_rgba8(const uint8_t *src, uint8_t *dst, const float *outer, const float *inner, const float *border,
                  size_t count);
void wi_cut_rgba16(const uint16_t *src, uint16_t *dst, const float *outer, const float *inner, const float *border,
                   size_t count);

/// Reverses the filters of `rows` PNG rows with 8 bits per sample, each of which follows its filter type, and writes
/// R, G, B, A with straight alpha. `above` is the finished row before the first one, or zeros if there's none. The
/// function reads up to 4 unused bytes past the end of `raw`. It returns the number of finished rows, which is lower
/// if a filter type is invalid.
size_t wi_unfilter_rgb8(const uint8_t *raw, size_t width, size_t rows, const uint8_t *above, uint8_t *out,
                        size_t stride);
size_t wi_unfilter_rgba8(const uint8_t *raw, size_t width, size_t rows, const uint8_t *above, uint8_t *out,
                         size_t stride);
/// Reverses the filters of `rows` PNG rows of `count` bytes in place, each of which follows its filter type. `step` is
/// the number of bytes per pixel, either 1 or 2 (1 for less than a byte). `above` is the finished row before the first
/// one, or zeros if there's none. The function returns the number of finished rows, which is lower if a filter type is
/// invalid.
size_t wi_unfilter_bytes(uint8_t *raw, size_t count, size_t rows, size_t step, const uint8_t *above);
/// Converts one row of indices with 1, 2, 4, or 8 bits to the colors of a table with 256 entries in memory order.
void wi_spread_indices(const uint8_t *row, size_t bits, const uint32_t *colors, uint8_t *out, size_t width);
/// Converts one row of gray and alpha to R, G, B, A.
void wi_spread_gray_alpha(const uint8_t *row, uint8_t *out, size_t width);
