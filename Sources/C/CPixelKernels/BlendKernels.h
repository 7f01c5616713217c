// SPDX-License-Identifier: MIT
// Included once per sample type. See Depths.h.

// Color dodge and color burn are discontinuous at full values, which multiplication by the reciprocal doesn't reach
// exactly. Therefore, divide in these modes.
WI_INLINE float NAME(straight)(const SAMPLE *p, int c, float over, wi_blend_mode mode) {
    if (mode == wi_blend_color_dodge || mode == wi_blend_color_burn) return (float)p[c] / (p[3] ? p[3] : 1);
    return p[c] * over;
}

// `mode` and `place` are constants at every call site, so the compiler removes the branches from the loop.
WI_INLINE void NAME(blend_loop)(const SAMPLE *back, const SAMPLE *front, SAMPLE *dst, const float *coverage,
                                float opacity, wi_blend_mode mode, wi_blend_place place, size_t count) {
    const float unit = 1 / MAXIMUM;
    for (size_t i = 0; i < count; i++) {
        const SAMPLE *b = back + i * 4, *f = front + i * 4;
        const float share = opacity * coverage[i] * unit;
        const float ab = b[3] * unit, af = f[3] * share;
        const float overB = b[3] ? 1.0f / b[3] : 0, overF = f[3] ? 1.0f / f[3] : 0;
        const float alpha = place == wi_blend_in ? af * ab : place == wi_blend_atop ? ab : af + ab - af * ab;
        const float limit = wi_clamp(alpha * MAXIMUM + 0.5f, 0, MAXIMUM);
        SAMPLE out[4];
        for (int c = 0; c < 3; c++) {
            float v;
            if (place == wi_blend_in) {
                v = f[c] * share * ab;
            } else {
                const float under = NAME(straight)(b, c, overB, mode), above = NAME(straight)(f, c, overF, mode);
                v = b[c] * unit * (1 - af) + af * ab * wi_blended(mode, under, above);
                if (place == wi_blend_over) v += f[c] * share * (1 - ab);
            }
            out[c] = (SAMPLE)wi_clamp(v * MAXIMUM + 0.5f, 0, limit);
        }
        out[3] = (SAMPLE)limit;
        for (int c = 0; c < 4; c++) dst[i * 4 + c] = out[c];
    }
}

#define WI_MODE(mode)                                                                                                 \
    case mode:                                                                                                        \
        if (place == wi_blend_atop) NAME(blend_loop)(back, front, dst, coverage, opacity, mode, wi_blend_atop, count); \
        else NAME(blend_loop)(back, front, dst, coverage, opacity, mode, wi_blend_over, count);                       \
        return;

WI_INLINE void BODY(wi_blend)(const SAMPLE *back, const SAMPLE *front, SAMPLE *dst, const float *coverage,
                              float opacity, wi_blend_mode mode, wi_blend_place place, size_t count) {
    if (place == wi_blend_in) {
        NAME(blend_loop)(back, front, dst, coverage, opacity, wi_blend_normal, wi_blend_in, count);
        return;
    }
    switch (mode) {
        WI_MODE(wi_blend_normal)
        WI_MODE(wi_blend_multiply)
        WI_MODE(wi_blend_screen)
        WI_MODE(wi_blend_overlay)
        WI_MODE(wi_blend_darken)
        WI_MODE(wi_blend_lighten)
        WI_MODE(wi_blend_color_dodge)
        WI_MODE(wi_blend_color_burn)
        WI_MODE(wi_blend_hard_light)
        WI_MODE(wi_blend_soft_light)
        WI_MODE(wi_blend_difference)
        WI_MODE(wi_blend_exclusion)
    }
}
#undef WI_MODE

WI_DISPATCH_NAMED(void, NAME(wi_blend),
                  (const void *back, const void *front, void *dst, const float *coverage, float opacity,
                   wi_blend_mode mode, wi_blend_place place, size_t count),
                  (back, front, dst, coverage, opacity, mode, place, count))
