// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <tiffio.h>

/// The layout of the output pixels.
typedef enum {
    /// R, G, B, A with 8 bits per sample.
    WI_TIFF_BYTES = 0,
    /// C, M, Y, K with 8 bits per sample for CMYK pages.
    WI_TIFF_INK = 1,
    /// R, G, B, A with 16 bits per sample in the byte order of the machine.
    WI_TIFF_WIDE = 2,
    /// Only alpha, with 8 bits per pixel.
    WI_TIFF_MATTE = 3,
} wi_tiff_samples_kind;

/// Returns whether the page is gray or RGB, has more than 8 bits per sample, and is supported by wi_tiff_samples.
int wi_tiff_is_deep(TIFF *tiff);
/// Returns whether the decoder for the compression of the page reports missing data, unlike those for fax and JPEG.
int wi_tiff_reports_missing(TIFF *tiff);
/// Decodes rows of pages that TIFFRGBAImage doesn't support, or that require another output layout.
///
/// Unlike TIFFRGBAImage, the function accepts strips and tiles whose byte count is too large, also if it exceeds the file,
/// as long as the file contains the data of all rows.
///
/// The function supports any number of bits per sample, integers and floating-point numbers (0 is black, 1 is white),
/// gray, palettes, RGB, and CMYK, each with alpha. It returns 1 if all rows were read, 0 if the data is corrupt, -1 if
/// memory can't be allocated, and -2 if the page isn't supported.
int wi_tiff_samples(TIFF *tiff, uint32_t first, uint32_t count, size_t max_bytes, wi_tiff_samples_kind kind,
                    uint8_t *out, size_t stride);
