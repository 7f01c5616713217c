// SPDX-License-Identifier: MIT
// The kernels that reduce images in linear light. As in CPixelKernels.h, these functions don't allocate memory, check
// bounds, or keep state. Pixels are premultiplied, and light is premultiplied, too: its straight value times alpha.
//
// Light of 8-bit pixels in sRGB is a 15-bit integer, so the largest value fits into a signed 16-bit lane of a multiplication.
// Two rows of light form a row of pairs, in which the lower half of each word belongs to the upper row. The light of
// other pixels is a float from 0 to 1. Rows of light, pairs, and sums are padded to a multiple of WI_LIGHT_LANES.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The largest 15-bit light.
#define WI_LIGHT_MAXIMUM 32767
/// The number of samples to which rows of light are padded.
#define WI_LIGHT_LANES 64
/// The number of steps between the 16-bit samples 0 and 1 in the table of light.
#define WI_DEEP_LIGHT_STEPS 4096

typedef struct {
    /// The 15-bit light of the 256 byte values of an opaque pixel. The first four tables are NULL if only the functions
    /// for light as floats are used.
    const uint16_t *opaque;
    /// The premultiplied 15-bit light of each premultiplied byte, with 256 values for each of the 256 alphas. The last
    /// value of each alpha is the 15-bit alpha itself. NULL if there's no alpha.
    const uint16_t *premultiplied;
    /// The bytes for each light from 0 to WI_LIGHT_MAXIMUM.
    const uint8_t *bytes;
    /// The encoded values from 0 to 1 for each light from 0 to WI_LIGHT_MAXIMUM. NULL if there's no alpha.
    const float *values;
    /// The light at WI_DEEP_LIGHT_STEPS + 2 samples from 0 to 1.
    const float *light;
    /// The samples from 0 to 65,535 at WI_DEEP_LIGHT_STEPS + 2 positions of a root of light.
    const float *words;
    /// The number of square roots from light to a position in `words`, at least 1.
    int roots;
} wi_resample_tables;

/// Converts two rows of pixels to a row of pairs. The functions for RGB omit alpha, which must be at its maximum.
void wi_light_pairs_rgb8(const uint8_t *upper, const uint8_t *lower, uint32_t *pairs, const wi_resample_tables *tables,
                         size_t width);
void wi_light_pairs_rgba8(const uint8_t *upper, const uint8_t *lower, uint32_t *pairs, const wi_resample_tables *tables,
                          size_t width);
/// The variants of `light_row` (PixelFormats.h) for opaque pixels, which omit alpha.
void wi_light_row_rgb8(const void *pixels, float *light, const wi_resample_tables *tables, size_t width);
void wi_light_row_rgb16(const void *pixels, float *light, const wi_resample_tables *tables, size_t width);

/// Computes sums[i] += Σ weights[j] · pairs[j × stride + i], or without the addition if `is_new` is `true`. The halves of
/// a weight are the signed weights of the rows of a pair. No partial sum may exceed 32 bits.
void wi_add_light_pairs(float *sums, const uint32_t *pairs, size_t stride, const uint32_t *weights, size_t count,
                        size_t samples, bool is_new);
/// Computes sums[i] += Σ weights[j] × rows[j × stride + i], or without the addition if `is_new` is `true`.
void wi_add_light_rows(float *sums, const float *rows, size_t stride, const float *weights, size_t count,
                       size_t samples, bool is_new);

/// The positions and weights of one output row in a row of sums.
typedef struct {
    /// The first source pixel for each output pixel.
    const uint32_t *first;
    /// The weights of `count` source pixels for each output pixel. The count is a multiple of 4.
    const float *weights;
    size_t count;
    /// The number of output pixels.
    size_t width;
} wi_light_columns;

/// Computes one output row from a row of sums. `scale` converts the sums to light: from 0 to WI_LIGHT_MAXIMUM for 8-bit
/// pixels, or from 0 to 1 for 16-bit pixels and for the functions with light as floats (`deep`). The results are rounded, and colors are clamped to 0...alpha. The functions
/// for RGB write opaque pixels.
void wi_encode_light_rgb8(const float *sums, const wi_light_columns *columns, float scale,
                          const wi_resample_tables *tables, void *out);
void wi_encode_light_rgba8(const float *sums, const wi_light_columns *columns, float scale,
                           const wi_resample_tables *tables, void *out);
void wi_encode_deep_rgb8(const float *sums, const wi_light_columns *columns, float scale,
                         const wi_resample_tables *tables, void *out);
void wi_encode_deep_rgba8(const float *sums, const wi_light_columns *columns, float scale,
                          const wi_resample_tables *tables, void *out);
void wi_encode_light_rgb16(const float *sums, const wi_light_columns *columns, float scale,
                           const wi_resample_tables *tables, void *out);
void wi_encode_light_rgba16(const float *sums, const wi_light_columns *columns, float scale,
                            const wi_resample_tables *tables, void *out);

/// The instruction sets for which wi_add_light_pairs has a variant on this processor, for tests. The result of a
/// variant is exactly that of the portable one, which has the index 0.
size_t wi_add_light_pairs_variants(void);
void wi_add_light_pairs_variant(size_t variant, float *sums, const uint32_t *pairs, size_t stride,
                                const uint32_t *weights, size_t count, size_t samples, bool is_new);
