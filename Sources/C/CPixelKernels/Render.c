// SPDX-License-Identifier: MIT
#include "PixelRender.h"
#include "Depths.h"
#include "PixelLight.h"
#include "ToneMapping.h"
#include <math.h>
#include <string.h>

WI_INLINE float wi_lookup(const float *table, float place) {
    int32_t index = (int32_t)place;
    return table[index] + (table[index + 1] - table[index]) * (place - (float)index);
}

/// Returns a nonnegative number as a 16-bit floating-point number, rounded to nearest even. Larger numbers than 65504
/// are clamped, and NaN becomes 0.
WI_INLINE uint16_t wi_half(float v) {
    if (!(v > 0)) return 0;
    if (v >= 65504) return 0x7BFF;
    // Below 2^-14, the distance between numbers is constant.
    if (v < 6.103515625e-05f) return (uint16_t)(v * 16777216.0f + 0.5f);
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits += 0xFFF + (bits >> 13 & 1);
    return (uint16_t)((bits >> 13) - (112 << 10));
}

WI_INLINE void wi_apply(const float *m, float *c) {
    float r = m[0] * c[0] + m[1] * c[1] + m[2] * c[2];
    float g = m[3] * c[0] + m[4] * c[1] + m[5] * c[2];
    float b = m[6] * c[0] + m[7] * c[1] + m[8] * c[2];
    c[0] = r;
    c[1] = g;
    c[2] = b;
}

/// Renders one pixel with straight samples between 0 and 1.
WI_INLINE void wi_render_pixel(const wi_render *own, const float *samples, const float *map, float alpha,
                               uint16_t *dst) {
    float c[3];
    for (int k = 0; k < 3; k++) {
        float place = wi_clamp(samples[k], 0, 1) * WI_CURVE_STEPS;
        c[k] = place >= WI_CURVE_STEPS ? own->curves[k][WI_CURVE_STEPS] : wi_lookup(own->curves[k], place);
    }
    if (own->ootf_power != 0) wi_system_gamma(c, own->luminance, own->ootf_scale, own->ootf_power);
    wi_apply(own->to_gain, c);
    if (map)
        for (int k = 0; k < 3; k++)
            c[k] = (c[k] + own->base_offset[k]) * wi_lookup(own->gains[k], map[k] * WI_GAIN_STEPS) -
                   own->alternate_offset[k];
    wi_apply(own->to_output, c);
    if (own->keeps_hue) wi_into_gamut(c, own->output_luminance);
    if (own->tones)
        wi_tone(c, own->tones, own->peak);
    else if (own->keeps_hue)
        wi_limit(c, own->limit);
    for (int k = 0; k < 3; k++) {
        float light = wi_clamp(c[k], 0, own->limit);
        if (own->pq) {
            float root = sqrtf(sqrtf(wi_clamp(light * own->pq_scale, 0, 1)));
            dst[k] = (uint16_t)(wi_lookup(own->pq, root * WI_PQ_STEPS) * alpha + 0.5f);
        } else {
            dst[k] = wi_half(light * alpha);
        }
    }
    dst[3] = own->pq ? (uint16_t)(alpha * 65535 + 0.5f) : wi_half(alpha);
}

#define KERNELS "RenderKernels.h"
#include "EachDepth.h"
