// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <tiffio.h>

/// Decodes rows of pages that TIFFRGBAImage does not take: any number of bits a sample, whole numbers or floats (0 is
/// black, 1 is white), grey, RGB and CMYK; with `keeps_ink` CMYK becomes C, M, Y, K of 8 bits. Returns 1 when all is read, 0 on damage, -1 without memory, -2 for others.
int wi_tiff_samples(TIFF *tiff, uint32_t first, uint32_t count, size_t max_bytes, int keeps_ink, uint8_t *out,
                    size_t stride);
