// SPDX-License-Identifier: MIT
// Kernels and types of the effects. Kernels that exist for each pixel format are in PixelFormats.h.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// A box filter with 2 × radius + 1 pixels at full weight and one additional pixel at each end with the weight `edge`.
/// `scale` is the reciprocal of the sum of the weights.
typedef struct {
    uint32_t radius;
    float edge;
    float scale;
} wi_box;

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

/// Computes the strength of a vignette for each pixel of a row. It's 0 up to the distance `start` from the center,
/// `strength` from start + 1 / slope on, and smooth in between. Positions are in half diagonals from the center.
void wi_vignette(float *coverage, float x, float step, float y, float start, float slope, float strength,
                 size_t count);

/// Multiplies samples by 257, or divides them by 257 and rounds to nearest.
void wi_widen(const uint8_t *src, uint16_t *dst, size_t samples);
void wi_narrow(const uint16_t *src, uint8_t *dst, size_t samples);

/// Mixes `count` bytes into a 128-bit digest (MurmurHash3 x64 128). The digest identifies images, but it doesn't
/// protect against attackers.
void wi_digest(const uint8_t *bytes, size_t count, uint64_t state[2]);
