// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <tiffio.h>

/// What pixels are made of samples.
typedef enum {
    /// R, G, B, A of 8 bits.
    WI_TIFF_BYTES = 0,
    /// CMYK becomes C, M, Y, K of 8 bits.
    WI_TIFF_INK = 1,
    /// R, G, B, A of 16 bits in the machine's order.
    WI_TIFF_WIDE = 2,
} wi_tiff_samples_kind;

/// Whether the page has more than 8 bits a sample, grey or RGB, of a kind that wi_tiff_samples reads.
int wi_tiff_is_deep(TIFF *tiff);
/// Decodes rows of pages that TIFFRGBAImage does not take, or not as it is wanted: any number of bits a sample, whole
/// numbers or floats (0 is black, 1 is white), grey, RGB and CMYK. Returns 1 when all is read, 0 on damage, -1 without
/// memory, -2 for others.
int wi_tiff_samples(TIFF *tiff, uint32_t first, uint32_t count, size_t max_bytes, wi_tiff_samples_kind kind,
                    uint8_t *out, size_t stride);
