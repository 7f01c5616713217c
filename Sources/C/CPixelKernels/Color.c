// SPDX-License-Identifier: MIT
// Kernels that compute a pixel from the pixels at the same position in one or two images.
#include "Depths.h"
#include <math.h>

#define KERNELS "ColorKernels.h"
#include "EachDepth.h"

WI_INLINE void wi_vignette_body(float *coverage, float x, float step, float y, float start, float slope,
                                float strength, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float across = x + (float)(int32_t)i * step;
        float t = wi_clamp((sqrtf(across * across + y * y) - start) * slope, 0, 1);
        coverage[i] = strength * t * t * (3 - 2 * t);
    }
}

WI_INLINE void wi_widen_body(const uint8_t *src, uint16_t *dst, size_t samples) {
    for (size_t i = 0; i < samples; i++) dst[i] = (uint16_t)(src[i] * 257);
}

WI_INLINE void wi_narrow_body(const uint16_t *src, uint8_t *dst, size_t samples) {
    for (size_t i = 0; i < samples; i++) dst[i] = (uint8_t)((src[i] * 255u + 32767u) / 65535u);
}

WI_DISPATCH(void, wi_vignette,
            (float *coverage, float x, float step, float y, float start, float slope, float strength, size_t count),
            (coverage, x, step, y, start, slope, strength, count))
WI_DISPATCH(void, wi_widen, (const uint8_t *src, uint16_t *dst, size_t samples), (src, dst, samples))
WI_DISPATCH(void, wi_narrow, (const uint16_t *src, uint8_t *dst, size_t samples), (src, dst, samples))
