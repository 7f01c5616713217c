// SPDX-License-Identifier: MIT
// Kernels of the effects, for both pixel formats. As in CPixelKernels.h nothing here allocates, checks bounds or
// keeps state; pixels are premultiplied.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// A box of 2 × radius + 1 pixels at full weight and one more at each end at weight `edge`; `scale` is one over the
/// sum of the weights.
typedef struct {
    uint32_t radius;
    float edge;
    float scale;
} wi_box;

/// Blurs up to eight lines by three passes of `box`, edges clamped. Pixels of a line lie `step` bytes apart, lines
/// `lane` bytes. `scratch` holds 64 × count floats. `src` may be `dst` with the same steps.
void wi_blur_lines_rgba8(const uint8_t *src, uint8_t *dst, ptrdiff_t src_step, ptrdiff_t src_lane, ptrdiff_t dst_step,
                         ptrdiff_t dst_lane, size_t count, size_t lanes, wi_box box, float *scratch);
void wi_blur_lines_rgba16(const uint16_t *src, uint16_t *dst, ptrdiff_t src_step, ptrdiff_t src_lane,
                          ptrdiff_t dst_step, ptrdiff_t dst_lane, size_t count, size_t lanes, wi_box box,
                          float *scratch);

/// The separable modes.
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

/// Where the front is seen: everywhere, on the back only, in place of the back.
typedef enum { wi_blend_over, wi_blend_atop, wi_blend_in } wi_blend_place;

/// Draws a row of the front, its alpha × opacity × coverage (0...1 a pixel), on a row of the back. `dst` may be
/// `back`.
void wi_blend_rgba8(const uint8_t *back, const uint8_t *front, uint8_t *dst, const float *coverage, float opacity,
                    wi_blend_mode mode, wi_blend_place place, size_t count);
void wi_blend_rgba16(const uint16_t *back, const uint16_t *front, uint16_t *dst, const float *coverage, float opacity,
                     wi_blend_mode mode, wi_blend_place place, size_t count);

/// Rows of the matrix (4 × 5) make red, green, blue and alpha out of straight red, green, blue, alpha and one, all
/// 0...1.
void wi_color_matrix_rgba8(const uint8_t *src, uint8_t *dst, const float *matrix, size_t count);
void wi_color_matrix_rgba16(const uint16_t *src, uint16_t *dst, const float *matrix, size_t count);

/// `share` (0...1 a pixel) of `to` and the rest of `from`.
void wi_mix_rgba8(const uint8_t *from, const uint8_t *to, uint8_t *dst, const float *share, size_t count);
void wi_mix_rgba16(const uint16_t *from, const uint16_t *to, uint16_t *dst, const float *share, size_t count);

/// Straight colour + amount × (colour − blurred colour) where the difference reaches `threshold`; alpha stays.
void wi_unsharp_rgba8(const uint8_t *src, const uint8_t *blurred, uint8_t *dst, float amount, float threshold,
                      size_t count);
void wi_unsharp_rgba16(const uint16_t *src, const uint16_t *blurred, uint16_t *dst, float amount, float threshold,
                       size_t count);

/// Luminance (Rec. 709 weights) and alpha of each pixel, 0...1.
void wi_luminance_rgba8(const uint8_t *src, float *dst, size_t count);
void wi_luminance_rgba16(const uint16_t *src, float *dst, size_t count);
void wi_alpha_rgba8(const uint8_t *src, float *dst, size_t count);
void wi_alpha_rgba16(const uint16_t *src, float *dst, size_t count);

/// Adds each channel of a row to its sum.
void wi_sum_rgba8(const uint8_t *src, uint64_t *sums, size_t count);
void wi_sum_rgba16(const uint16_t *src, uint64_t *sums, size_t count);

/// How much of a vignette each pixel of a row gets: 0 nearer to the middle than `start`, `strength` from
/// start + 1 / slope on, smooth between. Places are in half diagonals from the middle.
void wi_vignette(float *coverage, float x, float step, float y, float start, float slope, float strength,
                 size_t count);

/// One row of a turned picture: out[i] is the source at x + i × dx, y + i × dy (pixel centres at halves), over
/// `background` (premultiplied, in the picture's range).
void wi_rotate_row_rgba8(const uint8_t *src, size_t stride, size_t width, size_t height, double x, double y,
                         double dx, double dy, const float *background, uint8_t *out, size_t count);
void wi_rotate_row_rgba16(const uint16_t *src, size_t stride, size_t width, size_t height, double x, double y,
                          double dx, double dy, const float *background, uint16_t *out, size_t count);

/// × 257, and the nearest quotient by it.
void wi_widen(const uint8_t *src, uint16_t *dst, size_t samples);
void wi_narrow(const uint16_t *src, uint8_t *dst, size_t samples);

/// Mixes `count` bytes into a 128-bit digest (MurmurHash3 x64 128): for names of pictures, not against attackers.
void wi_digest(const uint8_t *bytes, size_t count, uint64_t state[2]);
