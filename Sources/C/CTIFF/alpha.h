// SPDX-License-Identifier: MIT
#pragma once
#include <tiffio.h>

/// The sample of a page that contains alpha.
typedef struct {
    /// The kind of alpha, as in the tag ExtraSamples, or 0 if the page has no alpha.
    int kind;
    /// The index of the sample in the pixel.
    int sample;
} wi_tiff_alpha;

/// Returns the number of samples per pixel that describe the color of a gray, palette, RGB, or CMYK page, or 0 for
/// other pages.
int wi_tiff_color_samples(TIFF *tiff);
/// Finds the alpha among the samples after the color (TIFF 6.0, section 18). If the file declares associated or
/// unassociated alpha, the first such sample is the alpha. Otherwise, the first extra sample is unassociated alpha,
/// because many programs write alpha without declaring it, unless the sample has a plane of its own without data.
wi_tiff_alpha wi_tiff_find_alpha(TIFF *tiff);
/// Lets the RGBA interface of libtiff use the alpha of the selected page. Returns 0 if this interface would ignore the
/// alpha or use another sample.
int wi_tiff_declare_alpha(TIFF *tiff, wi_tiff_alpha alpha);
