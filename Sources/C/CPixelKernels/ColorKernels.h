// SPDX-License-Identifier: MIT
// Included once per sample type. See Depths.h.

WI_INLINE void BODY(wi_color_matrix)(const SAMPLE *src, SAMPLE *dst, const float *m, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const SAMPLE *p = src + i * 4;
        const float over = p[3] ? 1.0f / p[3] : 0;
        const float r = p[0] * over, g = p[1] * over, b = p[2] * over, a = p[3] * (1 / MAXIMUM);
        float alpha = wi_clamp(m[15] * r + m[16] * g + m[17] * b + m[18] * a + m[19], 0, 1) * MAXIMUM;
        float red = wi_clamp(m[0] * r + m[1] * g + m[2] * b + m[3] * a + m[4], 0, 1);
        float green = wi_clamp(m[5] * r + m[6] * g + m[7] * b + m[8] * a + m[9], 0, 1);
        float blue = wi_clamp(m[10] * r + m[11] * g + m[12] * b + m[13] * a + m[14], 0, 1);
        dst[i * 4] = (SAMPLE)(red * alpha + 0.5f);
        dst[i * 4 + 1] = (SAMPLE)(green * alpha + 0.5f);
        dst[i * 4 + 2] = (SAMPLE)(blue * alpha + 0.5f);
        dst[i * 4 + 3] = (SAMPLE)(alpha + 0.5f);
    }
}

// Every step is monotonic, so color <= alpha remains true.
WI_INLINE void BODY(wi_mix)(const SAMPLE *from, const SAMPLE *to, SAMPLE *dst, const float *share, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const float rest = 1 - share[i];
        for (int c = 0; c < 4; c++)
            dst[i * 4 + c] = (SAMPLE)(from[i * 4 + c] * rest + to[i * 4 + c] * share[i] + 0.5f);
    }
}

WI_INLINE void BODY(wi_unsharp)(const SAMPLE *src, const SAMPLE *blurred, SAMPLE *dst, float amount, float threshold,
                                size_t count) {
    for (size_t i = 0; i < count; i++) {
        const SAMPLE *p = src + i * 4, *q = blurred + i * 4;
        // Use straight colors, because transparency in the blurred image must not count as darkness.
        const float overP = p[3] ? 1.0f / p[3] : 0, overQ = q[3] ? 1.0f / q[3] : 0;
        for (int c = 0; c < 3; c++) {
            float v = p[c] * overP, detail = v - q[c] * overQ;
            v += fabsf(detail) >= threshold ? amount * detail : 0;
            dst[i * 4 + c] = (SAMPLE)(wi_clamp(v, 0, 1) * p[3] + 0.5f);
        }
        dst[i * 4 + 3] = p[3];
    }
}

// Rec. 709 weights of premultiplied colors, so transparent pixels are dark.
WI_INLINE void BODY(wi_luminance)(const SAMPLE *src, float *dst, size_t count) {
    for (size_t i = 0; i < count; i++)
        dst[i] = (0.2126f * src[i * 4] + 0.7152f * src[i * 4 + 1] + 0.0722f * src[i * 4 + 2]) * (1 / MAXIMUM);
}

WI_INLINE void BODY(wi_alpha)(const SAMPLE *src, float *dst, size_t count) {
    for (size_t i = 0; i < count; i++) dst[i] = src[i * 4 + 3] * (1 / MAXIMUM);
}

WI_INLINE void BODY(wi_sum)(const SAMPLE *src, uint64_t *sums, size_t count) {
    // 32 bits hold the sum of 65,536 samples of 16 bits.
    const size_t block = 65536;
    for (size_t start = 0; start < count; start += block) {
        uint32_t part[4] = {0};
        size_t end = count - start < block ? count : start + block;
        for (size_t i = start; i < end; i++)
            for (int c = 0; c < 4; c++) part[c] += src[i * 4 + c];
        for (int c = 0; c < 4; c++) sums[c] += part[c];
    }
}

// Each pixel consists of `inner` of the image, `outer - inner` of the border over the image, and transparency for the
// rest. Colors and alpha use the same monotonic arithmetic, so color <= alpha remains true.
WI_INLINE void BODY(wi_cut)(const SAMPLE *restrict src, SAMPLE *restrict dst, const float *outer, const float *inner,
                            const float *border, size_t count) {
    const float through = 1 - border[3] / MAXIMUM;
    for (size_t i = 0; i < count; i++) {
        float ring = outer[i] - inner[i], keep = inner[i] + through * ring;
        for (int c = 0; c < 4; c++) dst[i * 4 + c] = (SAMPLE)(src[i * 4 + c] * keep + border[c] * ring + 0.5f);
    }
}

WI_INLINE void BODY(wi_limit)(SAMPLE *pixels, size_t count) {
    for (size_t i = 0; i < count * 4; i += 4) {
        SAMPLE alpha = pixels[i + 3];
        for (size_t channel = i; channel < i + 3; channel++)
            pixels[channel] = pixels[channel] < alpha ? pixels[channel] : alpha;
    }
}

WI_DISPATCH_NAMED(void, NAME(wi_color_matrix), (const void *src, void *dst, const float *matrix, size_t count),
                  (src, dst, matrix, count))
WI_DISPATCH_NAMED(void, NAME(wi_mix),
                  (const void *from, const void *to, void *dst, const float *share, size_t count),
                  (from, to, dst, share, count))
WI_DISPATCH_NAMED(void, NAME(wi_unsharp),
                  (const void *src, const void *blurred, void *dst, float amount, float threshold,
                   size_t count),
                  (src, blurred, dst, amount, threshold, count))
WI_DISPATCH_NAMED(void, NAME(wi_luminance), (const void *src, float *dst, size_t count), (src, dst, count))
WI_DISPATCH_NAMED(void, NAME(wi_alpha), (const void *src, float *dst, size_t count), (src, dst, count))
WI_DISPATCH_NAMED(void, NAME(wi_sum), (const void *src, uint64_t *sums, size_t count), (src, sums, count))
WI_DISPATCH_NAMED(void, NAME(wi_cut),
                  (const void *src, void *dst, const float *outer, const float *inner, const float *border,
                   size_t count),
                  (src, dst, outer, inner, border, count))
WI_DISPATCH_NAMED(void, NAME(wi_limit), (void *pixels, size_t count), (pixels, count))
