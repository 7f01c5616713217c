// SPDX-License-Identifier: MIT
// Included once per sample type. See Depths.h.

// Add eight rows at a time, so the sums are loaded and stored only once per eight multiplications.
WI_INLINE void NAME(add_eight)(float *restrict sums, const SAMPLE *restrict rows, size_t stride,
                               const float *restrict w, size_t samples) {
    const SAMPLE *a = rows, *b = ROW(rows, stride, 1), *c = ROW(rows, stride, 2), *d = ROW(rows, stride, 3);
    const SAMPLE *e = ROW(rows, stride, 4), *f = ROW(rows, stride, 5), *g = ROW(rows, stride, 6);
    const SAMPLE *h = ROW(rows, stride, 7);
    for (size_t i = 0; i < samples; i++) {
        float low = w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i];
        float high = w[4] * e[i] + w[5] * f[i] + w[6] * g[i] + w[7] * h[i];
        sums[i] += low + high;
    }
}

WI_INLINE void NAME(add_one)(float *restrict sums, const SAMPLE *restrict row, float w, size_t samples) {
    for (size_t i = 0; i < samples; i++) sums[i] += w * row[i];
}

WI_INLINE void NAME(sum_rows)(float *sums, const SAMPLE *rows, size_t stride, const float *weights, size_t count,
                              size_t samples, int is_new) {
    // Process strips whose sums stay in the first-level cache for all rows.
    const size_t strip = 1024;
    for (size_t start = 0; start < samples; start += strip) {
        size_t n = samples - start < strip ? samples - start : strip;
        if (is_new) memset(sums + start, 0, n * sizeof *sums);
        size_t j = 0;
        for (; j + 8 <= count; j += 8)
            NAME(add_eight)(sums + start, ROW(rows, stride, j) + start, stride, weights + j, n);
        for (; j < count; j++) NAME(add_one)(sums + start, ROW(rows, stride, j) + start, weights[j], n);
    }
}

WI_INLINE void BODY(wi_vertical)(float *sums, const SAMPLE *rows, size_t stride, const float *weights,
                                 size_t count, size_t samples) {
    NAME(sum_rows)(sums, rows, stride, weights, count, samples, 1);
}

WI_INLINE void BODY(wi_vertical_add)(float *sums, const SAMPLE *rows, size_t stride, const float *weights,
                                     size_t count, size_t samples) {
    NAME(sum_rows)(sums, rows, stride, weights, count, samples, 0);
}

WI_INLINE void NAME(store)(wi_float4 v, SAMPLE *out) {
    v += 0.5f;
    float alpha = v[3] < 0 ? 0 : v[3] > MAXIMUM ? MAXIMUM : v[3];
    for (int i = 0; i < 3; i++) out[i] = (SAMPLE)(v[i] < 0 ? 0 : v[i] > alpha ? alpha : v[i]);
    out[3] = (SAMPLE)alpha;
}

WI_INLINE void BODY(wi_horizontal)(const float *sums, const wi_tap *taps, const float *weights, size_t width,
                                   SAMPLE *out) {
    for (size_t x = 0; x < width; x++) {
        const float *p = sums + (size_t)taps[x].first * 4, *w = weights + taps[x].weight;
        size_t n = taps[x].count, j = 0;
        // Use four independent chains, so that an addition doesn't wait for the previous one.
        wi_float4 a = {0}, b = {0}, c = {0}, d = {0};
        for (; j + 4 <= n; j += 4, p += 16) {
            a += load4(p) * w[j];
            b += load4(p + 4) * w[j + 1];
            c += load4(p + 8) * w[j + 2];
            d += load4(p + 12) * w[j + 3];
        }
        for (; j < n; j++, p += 4) a += load4(p) * w[j];
        NAME(store)((a + b) + (c + d), out + x * 4);
    }
}

WI_DISPATCH_NAMED(void, NAME(wi_vertical),
                  (float *sums, const void *rows, size_t stride, const float *weights, size_t count, size_t samples),
                  (sums, rows, stride, weights, count, samples))
WI_DISPATCH_NAMED(void, NAME(wi_vertical_add),
                  (float *sums, const void *rows, size_t stride, const float *weights, size_t count, size_t samples),
                  (sums, rows, stride, weights, count, samples))
WI_DISPATCH_NAMED(void, NAME(wi_horizontal),
                  (const float *sums, const wi_tap *taps, const float *weights, size_t width, void *out),
                  (sums, taps, weights, width, out))
