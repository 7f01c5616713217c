// SPDX-License-Identifier: MIT
// Plain functions that limit the memory of Little CMS and the parts of untrusted profiles that it reads.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_ICC_GRAY = 1,
    WI_ICC_RGB = 3,
    WI_ICC_CMYK = 4,
} wi_icc_space;

typedef enum { WI_ICC_SRGB, WI_ICC_DISPLAY_P3 } wi_icc_target;

typedef struct wi_icc_profile wi_icc_profile;
typedef struct wi_icc_transform wi_icc_transform;

/// Opens a copy of the data. Returns NULL if the data isn't a valid device profile for gray, RGB, or CMYK.
wi_icc_profile *wi_icc_open(const uint8_t *bytes, size_t count);
void wi_icc_close(wi_icc_profile *profile);
wi_icc_space wi_icc_space_of(const wi_icc_profile *profile);
/// Returns whether the profile has lookup tables to the connection space (A2B0). They take precedence over the curves
/// and the matrix.
int wi_icc_has_tables(const wi_icc_profile *profile);
/// Gets the XYZ values (D50) of red, green, and blue, with one row each for X, Y, and Z. Returns 0 if the profile has
/// none.
int wi_icc_colorants(const wi_icc_profile *profile, double matrix[9]);
/// Gets the linear light (0 to 1) at `count` evenly spaced samples of one channel. Returns 0 if the profile has no
/// such curve.
int wi_icc_curve(const wi_icc_profile *profile, int channel, float *out, size_t count);

/// Returns whether Little CMS can build a transform from the profile to sRGB. Other libraries use Little CMS without
/// limits, so their users pass only such profiles.
int wi_icc_has_transform(const wi_icc_profile *profile);
/// Returns whether the data of a profile has floating-point tables (D2B0 to D2B3), which wi_icc_open ignores.
int wi_icc_has_float_tables(const uint8_t *bytes, size_t count);
/// Creates a perceptual transform with black point compensation. It converts R, G, B, A to the
/// target and copies alpha. It converts C, M, Y, K (0 means no ink) to R, G, B and leaves the fourth byte. If the profile
/// is for gray, the first sample of each pixel is the input, and alpha remains. Returns NULL if the profile is corrupt.
wi_icc_transform *wi_icc_transform_make(const wi_icc_profile *profile, wi_icc_target target, int bytes_per_sample);
void wi_icc_transform_free(wi_icc_transform *transform);
/// Transforms pixels. Several threads may call this function at the same time. `in` and `out` must not be the same
/// buffer.
void wi_icc_transform_run(const wi_icc_transform *transform, const void *in, void *out, uint32_t pixels);
/// Returns the version of Little CMS as major × 1,000 + minor × 10 + patch.
int wi_icc_library_version(void);
