// SPDX-License-Identifier: MIT
// The kernels that convert pixels to luma and to chroma with half the width and half the height. As in CPixelKernels.h,
// these functions don't allocate memory, check bounds, or keep state. Pixels are R, G, B, and an ignored byte.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Converts two rows of pixels to one row of chroma with (width + 1) / 2 samples. The averages are those of light.
void wi_chroma_row(const uint8_t *top, const uint8_t *bottom, size_t width, uint8_t *cb, uint8_t *cr);
/// Computes the luma of a row so that decoded pixels have the light of the original ones.
///
/// @param near The Cb and Cr of the chroma row that contains this row.
/// @param far The Cb and Cr of the next nearest chroma row, which is `near` at the edges of the image.
void wi_luma_row(const uint8_t *pixels, size_t width, const uint8_t *const near[2], const uint8_t *const far[2],
                 uint8_t *luma);
