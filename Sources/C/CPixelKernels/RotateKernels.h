// SPDX-License-Identifier: MIT
// Included once per sample type. See Depths.h.

// Returns the premultiplied values to average, from 0 to 1: light, or the samples if there are no tables.
WI_INLINE wi_float4 NAME(values)(const SAMPLE *p, const wi_resample_tables *tables) {
    if (!tables) return (wi_float4){p[0], p[1], p[2], p[3]} * (1 / MAXIMUM);
    if (sizeof *p == 1 && tables->premultiplied) {
        const uint16_t *light = tables->premultiplied + (size_t)p[3] * 256;
        return (wi_float4){light[p[0] & 255], light[p[1] & 255], light[p[2] & 255], light[255]} *
               (1.0f / WI_LIGHT_MAXIMUM);
    }
    const float over = p[3] ? (float)WI_DEEP_LIGHT_STEPS / p[3] : 0, alpha = p[3] * (1 / MAXIMUM);
    wi_float4 v = {0, 0, 0, 1};
    for (int c = 0; c < 3; c++) v[c] = wi_between(tables->light, wi_clamp(p[c] * over, 0, WI_DEEP_LIGHT_STEPS));
    return v * alpha;
}

// `tables` is NULL or not at every call site, so the compiler removes the branches from the loops.
WI_INLINE wi_float4 NAME(interpolated)(const SAMPLE *src, size_t stride, ptrdiff_t width, ptrdiff_t height, double x,
                                       double y, const wi_resample_tables *tables) {
    const double left = floor(x - 0.5), top = floor(y - 0.5);
    float across[4], down[4];
    wi_cubic((float)(x - 0.5 - left), across);
    wi_cubic((float)(y - 0.5 - top), down);
    wi_float4 sum = {0};
    for (int j = 0; j < 4; j++) {
        const SAMPLE *row =
            (const SAMPLE *)((const char *)src + (size_t)wi_inside((ptrdiff_t)top - 1 + j, height) * stride);
        wi_float4 line = {0};
        for (int i = 0; i < 4; i++)
            line += NAME(values)(row + wi_inside((ptrdiff_t)left - 1 + i, width) * 4, tables) * across[i];
        sum += line * down[j];
    }
    // The filter overshoots at hard edges, where light exceeds its straight value by as much as alpha exceeds 1.
    if (tables && sum[3] > 1) sum /= sum[3];
    const float alpha = wi_clamp(sum[3], 0, 1);
    return (wi_float4){wi_clamp(sum[0], 0, alpha), wi_clamp(sum[1], 0, alpha), wi_clamp(sum[2], 0, alpha), alpha};
}

WI_INLINE void NAME(rotate_loop)(const SAMPLE *src, size_t stride, size_t width, size_t height, double x, double y,
                                 double dx, double dy, const SAMPLE *background, SAMPLE *out, size_t count,
                                 const wi_resample_tables *tables) {
    const wi_float4 back = NAME(values)(background, tables);
    for (size_t i = 0; i < count; i++, out += 4) {
        const double sx = x + (double)i * dx, sy = y + (double)i * dy;
        const double inX = sx < (double)width - sx ? sx : (double)width - sx;
        const double inY = sy < (double)height - sy ? sy : (double)height - sy;
        if (!(inX > -0.5 && inY > -0.5)) {
            for (int c = 0; c < 4; c++) out[c] = background[c];
            continue;
        }
        const float cover = wi_clamp((float)inX + 0.5f, 0, 1) * wi_clamp((float)inY + 0.5f, 0, 1);
        wi_float4 v = NAME(interpolated)(src, stride, (ptrdiff_t)width, (ptrdiff_t)height, sx, sy, tables) * cover;
        v += back * (1 - v[3]);
        const float alpha = v[3] > 1 ? 1 : v[3], limit = alpha * MAXIMUM + 0.5f;
        if (tables) {
            const float over = alpha > 0 ? 1 / alpha : 0;
            for (int c = 0; c < 3; c++) {
                float root = wi_clamp(v[c] * over, 0, 1);
                for (int j = 0; j < tables->roots; j++) root = sqrtf(root);
                const float word = wi_between(tables->words, root * WI_DEEP_LIGHT_STEPS);
                v[c] = word * (1.0f / 65535) * alpha;
            }
        }
        for (int c = 0; c < 3; c++) out[c] = (SAMPLE)wi_clamp(v[c] * MAXIMUM + 0.5f, 0, limit);
        out[3] = (SAMPLE)limit;
    }
}

WI_INLINE void BODY(wi_rotate_row)(const SAMPLE *src, size_t stride, size_t width, size_t height, double x, double y,
                                   double dx, double dy, const SAMPLE *background, const wi_resample_tables *tables,
                                   SAMPLE *out, size_t count) {
    if (tables) NAME(rotate_loop)(src, stride, width, height, x, y, dx, dy, background, out, count, tables);
    else NAME(rotate_loop)(src, stride, width, height, x, y, dx, dy, background, out, count, NULL);
}

WI_DISPATCH_NAMED(void, NAME(wi_rotate_row),
                  (const void *src, size_t stride, size_t width, size_t height, double x, double y, double dx,
                   double dy, const void *background, const wi_resample_tables *tables, void *out, size_t count),
                  (src, stride, width, height, x, y, dx, dy, background, tables, out, count))
