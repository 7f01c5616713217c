// SPDX-License-Identifier: MIT
// Separable resampling. The columns are first, so one row of sums is the only memory needed.
#include "Dispatch.h"
#include <string.h>

typedef float wi_float4 __attribute__((vector_size(16)));

WI_INLINE wi_float4 load4(const float *p) {
    wi_float4 v;
    memcpy(&v, p, sizeof v);
    return v;
}

#define ROW(rows, stride, index) ((rows) + (size_t)(index) * (stride) / sizeof *(rows))

#define SAMPLE uint8_t
#define MAXIMUM 255.0f
#define NAME(x) x##_8
#include "ResampleKernels.h"
#undef SAMPLE
#undef MAXIMUM
#undef NAME

#define SAMPLE uint16_t
#define MAXIMUM 65535.0f
#define NAME(x) x##_16
#include "ResampleKernels.h"

#define wi_vertical_rgba8_body wi_vertical_body_8
#define wi_vertical_rgba16_body wi_vertical_body_16
#define wi_vertical_add_rgba8_body wi_vertical_add_body_8
#define wi_vertical_add_rgba16_body wi_vertical_add_body_16
#define wi_horizontal_rgba8_body wi_horizontal_body_8
#define wi_horizontal_rgba16_body wi_horizontal_body_16

WI_DISPATCH(void, wi_vertical_rgba8,
            (float *sums, const uint8_t *rows, size_t stride, const float *weights, size_t count, size_t samples),
            (sums, rows, stride, weights, count, samples))
WI_DISPATCH(void, wi_vertical_rgba16,
            (float *sums, const uint16_t *rows, size_t stride, const float *weights, size_t count, size_t samples),
            (sums, rows, stride, weights, count, samples))
WI_DISPATCH(void, wi_vertical_add_rgba8,
            (float *sums, const uint8_t *rows, size_t stride, const float *weights, size_t count, size_t samples),
            (sums, rows, stride, weights, count, samples))
WI_DISPATCH(void, wi_vertical_add_rgba16,
            (float *sums, const uint16_t *rows, size_t stride, const float *weights, size_t count, size_t samples),
            (sums, rows, stride, weights, count, samples))
WI_DISPATCH(void, wi_horizontal_rgba8,
            (const float *sums, const wi_tap *taps, const float *weights, size_t width, uint8_t *out),
            (sums, taps, weights, width, out))
WI_DISPATCH(void, wi_horizontal_rgba16,
            (const float *sums, const wi_tap *taps, const float *weights, size_t width, uint16_t *out),
            (sums, taps, weights, width, out))
