// SPDX-License-Identifier: MIT
// A comparison of two images in a perceptual color space at several scales, from which a quality score is computed.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// The number of scales, each of which has half the size of the previous one.
#define WI_VISUAL_SCALES 6
/// The number of features: for each scale and channel, the mean and the fourth-power mean of the structural difference,
/// of added edges, and of lost edges. The number is 6 × 3 × 6, as a literal that Swift can import.
#define WI_VISUAL_FEATURES 108

typedef struct wi_visual wi_visual;

/// Creates a comparison of images with the same size. It holds about 2 KiB of memory per column. Returns NULL if memory
/// can't be allocated.
wi_visual *wi_visual_open(uint32_t width, uint32_t height);
void wi_visual_close(wi_visual *visual);
/// Adds the next rows of both images: premultiplied R, G, B, A with 8 bits per sample, or with 16 bits if `is_wide` is
/// nonzero. Transparent pixels show `background` (R, G, B).
void wi_visual_add(wi_visual *visual, const void *reference, size_t reference_stride, int reference_is_wide,
                   const void *image, size_t image_stride, int image_is_wide, uint32_t rows, const uint8_t *background);
/// Completes the comparison. Scales that are smaller than 8 pixels have features of 0.
void wi_visual_finish(wi_visual *visual, float features[WI_VISUAL_FEATURES]);
