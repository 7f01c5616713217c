// SPDX-License-Identifier: MIT
// The kernels of the effects, for both pixel formats. As in CPixelKernels.h, these functions don't allocate memory,
// check bounds, or keep state. Pixels are premultiplied.
#pragma once
#include "PixelResample.h"
#include <stddef.h>
#include <stdint.h>

/// A box filter with 2 × radius + 1 pixels at full weight and one additional pixel at each end with the weight `edge`.
/// `scale` is the reciprocal of the sum of the weights.
typedef struct {
    uint32_t radius;
    float edge;
    float scale;
} wi_box;

/// Blurs up to eight lines with three passes of `box`. Edges are clamped. `step` is the distance between the pixels of
/// a line, and `lane` is the distance between lines, in bytes. `scratch` has space for 64 × count floats. `src` and
/// `dst` may be the same buffer if the steps are equal.
void wi_blur_lines_rgba8(const uint8_t *src, uint8_t *dst, ptrdiff_t src_step, ptrdiff_t src_lane, ptrdiff_t dst_step,
                         ptrdiff_t dst_lane, size_t count, size_t lanes, wi_box box, float *scratch);
void wi_blur_lines_rgba16(const uint16_t *src, uint16_t *dst, ptrdiff_t src_step, ptrdiff_t src_lane,
                          ptrdiff_t dst_step, ptrdiff_t dst_lane, size_t count, size_t lanes, wi_box box,
                          float *scratch);

/// The separable blend modes.
typedef enum {
    wi_blend_normal,
    wi_blend_multiply,
    wi_blend_screen,
    wi_blend_overlay,
    wi_blend_darken,
    wi_blend_lighten,
    wi_blend_color_dodge,
    wi_blend_color_burn,
    wi_blend_hard_light,
    wi_blend_soft_light,
    wi_blend_difference,
    wi_blend_exclusion,
} wi_blend_mode;

/// The area of the front that is visible: everywhere, only on the back, or as a replacement for the back.
typedef enum { wi_blend_over, wi_blend_atop, wi_blend_in } wi_blend_place;

/// Blends a row of the front over a row of the back. The alpha of the front is multiplied by the opacity and the
/// coverage (0 to 1 per pixel). `dst` and `back` may be the same buffer.
void wi_blend_rgba8(const uint8_t *back, const uint8_t *front, uint8_t *dst, const float *coverage, float opacity,
                    wi_blend_mode mode, wi_blend_place place, size_t count);
void wi_blend_rgba16(const uint16_t *back, const uint16_t *front, uint16_t *dst, const float *coverage, float opacity,
                     wi_blend_mode mode, wi_blend_place place, size_t count);

/// Applies a color matrix (4 × 5). Its rows compute red, green, blue, and alpha from straight red, green, blue, alpha,
/// and the constant 1. All values are between 0 and 1.
void wi_color_matrix_rgba8(const uint8_t *src, uint8_t *dst, const float *matrix, size_t count);
void wi_color_matrix_rgba16(const uint16_t *src, uint16_t *dst, const float *matrix, size_t count);

/// Mixes `share` (0 to 1 per pixel) of `to` with the rest of `from`.
void wi_mix_rgba8(const uint8_t *from, const uint8_t *to, uint8_t *dst, const float *share, size_t count);
void wi_mix_rgba16(const uint16_t *from, const uint16_t *to, uint16_t *dst, const float *share, size_t count);

/// Computes straight color + amount × (color − blurred color) if the difference reaches `threshold`. Alpha stays
/// unchanged.
void wi_unsharp_rgba8(const uint8_t *src, const uint8_t *blurred, uint8_t *dst, float amount, float threshold,
                      size_t count);
void wi_unsharp_rgba16(const uint16_t *src, const uint16_t *blurred, uint16_t *dst, float amount, float threshold,
                       size_t count);

/// Computes the luminance (Rec. 709 weights) or the alpha of each pixel, from 0 to 1.
void wi_luminance_rgba8(const uint8_t *src, float *dst, size_t count);
void wi_luminance_rgba16(const uint16_t *src, float *dst, size_t count);
void wi_alpha_rgba8(const uint8_t *src, float *dst, size_t count);
void wi_alpha_rgba16(const uint16_t *src, float *dst, size_t count);

/// Adds each channel of a row to its sum.
void wi_sum_rgba8(const uint8_t *src, uint64_t *sums, size_t count);
void wi_sum_rgba16(const uint16_t *src, uint64_t *sums, size_t count);

/// Computes the strength of a vignette for each pixel of a row. It's 0 up to the distance `start` from the center,
/// `strength` from start + 1 / slope on, and smooth in between. Positions are in half diagonals from the center.
void wi_vignette(float *coverage, float x, float step, float y, float start, float slope, float strength,
                 size_t count);

/// Computes one row of a rotated image. out[i] is the source at x + i × dx, y + i × dy, over `background`, which is a
/// premultiplied pixel. Pixel centers are at halves. The interpolation uses light, or the samples if `tables` is NULL.
void wi_rotate_row_rgba8(const uint8_t *src, size_t stride, size_t width, size_t height, double x, double y,
                         double dx, double dy, const uint8_t *background, const wi_resample_tables *tables,
                         uint8_t *out, size_t count);
void wi_rotate_row_rgba16(const uint16_t *src, size_t stride, size_t width, size_t height, double x, double y,
                          double dx, double dy, const uint16_t *background, const wi_resample_tables *tables,
                          uint16_t *out, size_t count);

/// Multiplies samples by 257, or divides them by 257 and rounds to nearest.
void wi_widen(const uint8_t *src, uint16_t *dst, size_t samples);
void wi_narrow(const uint16_t *src, uint8_t *dst, size_t samples);

/// Mixes `count` bytes into a 128-bit digest (MurmurHash3 x64 128). The digest identifies images, but it doesn't
/// protect against attackers.
void wi_digest(const uint8_t *bytes, size_t count, uint64_t state[2]);
