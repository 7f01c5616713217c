// SPDX-License-Identifier: MIT
// Little CMS behind calls that see hostile profiles only in part and bound its memory.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_ICC_GRAY = 1,
    WI_ICC_RGB = 3,
    WI_ICC_CMYK = 4,
} wi_icc_space;

typedef struct wi_icc_profile wi_icc_profile;
typedef struct wi_icc_transform wi_icc_transform;

/// Copies the bytes. NULL for what is no profile of a device in grey, RGB or CMYK.
wi_icc_profile *wi_icc_open(const uint8_t *bytes, size_t count);
void wi_icc_close(wi_icc_profile *profile);
wi_icc_space wi_icc_space_of(const wi_icc_profile *profile);
/// Whether tables lead to the connection space (A2B0); they go before curves and matrix.
int wi_icc_has_tables(const wi_icc_profile *profile);
/// XYZ (D50) of red, green and blue, one row per X, Y, Z; 0 where the profile has none.
int wi_icc_colorants(const wi_icc_profile *profile, double matrix[9]);
/// Light (0...1) at `count` evenly spaced samples of one channel; 0 where the profile has no such curve.
int wi_icc_curve(const wi_icc_profile *profile, int channel, float *out, size_t count);

/// From R, G, B, A to the same in sRGB, alpha copied, or from C, M, Y, K (0 no ink) to R, G, B and an undefined byte.
/// Perceptual, with black point compensation. NULL where the profile is damaged.
wi_icc_transform *wi_icc_transform_make(const wi_icc_profile *profile, int bytes_per_sample);
void wi_icc_transform_free(wi_icc_transform *transform);
/// May run on several threads at once. `in` must not be `out`.
void wi_icc_transform_run(const wi_icc_transform *transform, const void *in, void *out, uint32_t pixels);
