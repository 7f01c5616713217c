// SPDX-License-Identifier: MIT
// Measures of the difference between two images, for `webimage compare`.
#ifndef CIMAGEQUALITY_H
#define CIMAGEQUALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Two images of the same size. The pixels are RGBA with 8 bits per sample and premultiplied alpha, in sRGB.
typedef struct {
    const uint8_t *original;
    const uint8_t *distorted;
    size_t original_stride;
    size_t distorted_stride;
    size_t width;
    size_t height;
} wi_image_pair;

/// The pixels outside of the image for the blur along a row. The reference implementation uses zeros.
typedef enum {
    WI_BORDER_ZERO,
    /// The pixels of the image in reverse order. The Python package `ssimulacra2` uses them.
    WI_BORDER_MIRRORED,
} wi_border;

/// The result of a computation.
typedef enum {
    WI_QUALITY_OK,
    WI_QUALITY_NO_MEMORY,
    /// The function `is_cancelled` returned `true`.
    WI_QUALITY_CANCELLED,
} wi_quality_status;

/// Computes the score of SSIMULACRA 2.1: 100 for equal images, about 90 if the difference is invisible, and lower, also
/// negative values for visible differences.
///
/// @param background The encoded sRGB value of the gray behind transparent pixels, from 0 to 1.
/// @param is_cancelled A function that is called once per row, or NULL.
wi_quality_status wi_ssimulacra2(
    const wi_image_pair *images, double background, wi_border border, bool (*is_cancelled)(void *), void *context,
    double *score);

/// Returns the sum of the squared differences of all samples. With `alpha`, it contains the alpha channel.
uint64_t wi_squared_error(const wi_image_pair *images, bool alpha);

/// Writes the absolute difference of the images times `gain` as opaque pixels. The difference of the alpha channels is
/// added to all colors.
void wi_difference(const wi_image_pair *images, unsigned gain, uint8_t *out, size_t out_stride);

#endif
