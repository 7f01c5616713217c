// SPDX-License-Identifier: MIT
#include "Depths.h"
#include "PixelLight.h"
#include "ToneMapping.h"
#include <math.h>

WI_INLINE float wi_between(const float *table, float place) {
    int32_t index = (int32_t)place;
    float rest = place - (float)index;
    return table[index] + (table[index + 1] - table[index]) * rest;
}

/// Clamps a value to 0 to 1. NaN becomes 0, because the result is used as a position in a table.
WI_INLINE float wi_unit(float v) { return v > 0 ? (v < 1 ? v : 1) : 0; }

WI_INLINE void wi_to_srgb_light(const wi_light *light, float *c) {
    const float *m = light->matrix;
    if (light->ootf_power != 0) wi_system_gamma(c, light->luminance, light->ootf_scale, light->ootf_power);
    float result[3] = {m[0] * c[0] + m[1] * c[1] + m[2] * c[2], m[3] * c[0] + m[4] * c[1] + m[5] * c[2],
                       m[6] * c[0] + m[7] * c[1] + m[8] * c[2]};
    if (light->gains) {
        wi_into_gamut(result, light->output_luminance);
        wi_tone(result, light->gains, light->peak);
    }
    for (int k = 0; k < 3; k++) c[k] = wi_unit(result[k]);
}

WI_INLINE void wi_light_rgba8_body(const uint8_t *src, uint8_t *dst, const wi_light *light, size_t count) {
    const wi_light own = *light;
    for (size_t i = 0; i < count; i++, src += 4, dst += 4) {
        float c[3] = {own.bytes[0][src[0]], own.bytes[1][src[1]], own.bytes[2][src[2]]};
        wi_to_srgb_light(&own, c);
        for (int k = 0; k < 3; k++) dst[k] = own.encoded_bytes[(int32_t)(c[k] * WI_LIGHT_STEPS + 0.5f)];
        dst[3] = src[3];
    }
}

WI_INLINE void wi_light_rgba16_body(const uint16_t *src, uint16_t *dst, const wi_light *light, size_t count) {
    const wi_light own = *light;
    const float step = (float)WI_CURVE_STEPS / 65535;
    for (size_t i = 0; i < count; i++, src += 4, dst += 4) {
        float c[3];
        for (int k = 0; k < 3; k++)
            c[k] = src[k] == 65535 ? own.curves[k][WI_CURVE_STEPS] : wi_between(own.curves[k], src[k] * step);
        wi_to_srgb_light(&own, c);
        for (int k = 0; k < 3; k++)
            dst[k] = (uint16_t)(wi_between(own.encoded_words, sqrtf(c[k]) * WI_ROOT_STEPS) + 0.5f);
        dst[3] = src[3];
    }
}

WI_INLINE void wi_premultiply_rgba16_body(uint16_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++, pixels += 4)
        for (int k = 0; k < 3; k++) pixels[k] = (uint16_t)((pixels[k] * (uint64_t)pixels[3] + 32767) / 65535);
}

WI_INLINE void wi_unpremultiply_rgba16_body(const uint16_t *src, uint16_t *dst, size_t count) {
    for (size_t i = 0; i < count; i++, src += 4, dst += 4) {
        uint32_t alpha = src[3];
        for (int k = 0; k < 3; k++) {
            uint64_t v = alpha ? ((uint64_t)src[k] * 65535 + alpha / 2) / alpha : 0;
            dst[k] = (uint16_t)(v > 65535 ? 65535 : v);
        }
        dst[3] = (uint16_t)alpha;
    }
}

WI_DISPATCH(void, wi_light_rgba8, (const void *src, void *dst, const wi_light *light, size_t count),
            (src, dst, light, count))
WI_DISPATCH(void, wi_light_rgba16, (const void *src, void *dst, const wi_light *light, size_t count),
            (src, dst, light, count))
WI_DISPATCH(void, wi_premultiply_rgba16, (void *pixels, size_t count), (pixels, count))
WI_DISPATCH(void, wi_unpremultiply_rgba16, (const void *src, void *dst, size_t count), (src, dst, count))
