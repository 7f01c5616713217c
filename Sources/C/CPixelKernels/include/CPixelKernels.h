// SPDX-License-Identifier: MIT
// The loops that process every pixel. They're written in C, because Swift code for the baseline instruction set takes
// 1.4 to 2.3 times as long. At each call, the functions select AVX-512, AVX2, or the baseline. Pixels are R, G, B, A,
// and “samples” are single channels. Except for the comparison of images in PixelVisual.h, these functions don't
// allocate memory, check bounds, or keep state.
#pragma once
#include "PixelChroma.h"
#include "PixelEffects.h"
#include "PixelFormats.h"
#include "PixelLight.h"
#include "PixelRender.h"
#include "PixelResample.h"
#include "PixelVisual.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Copies an image and changes its orientation. out(x, y) is the pixel at origin + x × step_x + y × step_y bytes.
void wi_turn_32(const uint8_t *origin, ptrdiff_t step_x, ptrdiff_t step_y, uint8_t *out, size_t out_stride,
                size_t width, size_t height);
void wi_turn_64(const uint8_t *origin, ptrdiff_t step_x, ptrdiff_t step_y, uint8_t *out, size_t out_stride,
                size_t width, size_t height);

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
