// SPDX-License-Identifier: MIT
// Included once per sample type. See Depths.h.

WI_INLINE wi_float4 NAME(interpolated)(const SAMPLE *src, size_t stride, ptrdiff_t width, ptrdiff_t height, double x,
                                       double y) {
    const double left = floor(x - 0.5), top = floor(y - 0.5);
    float across[4], down[4];
    wi_cubic((float)(x - 0.5 - left), across);
    wi_cubic((float)(y - 0.5 - top), down);
    wi_float4 sum = {0};
    for (int j = 0; j < 4; j++) {
        const SAMPLE *row =
            (const SAMPLE *)((const char *)src + (size_t)wi_inside((ptrdiff_t)top - 1 + j, height) * stride);
        wi_float4 line = {0};
        for (int i = 0; i < 4; i++) {
            const SAMPLE *p = row + wi_inside((ptrdiff_t)left - 1 + i, width) * 4;
            line += (wi_float4){p[0], p[1], p[2], p[3]} * across[i];
        }
        sum += line * down[j];
    }
    // The filter overshoots at hard edges.
    const float alpha = wi_clamp(sum[3], 0, MAXIMUM);
    return (wi_float4){wi_clamp(sum[0], 0, alpha), wi_clamp(sum[1], 0, alpha), wi_clamp(sum[2], 0, alpha), alpha};
}

WI_INLINE void BODY(wi_rotate_row)(const SAMPLE *src, size_t stride, size_t width, size_t height, double x, double y,
                                   double dx, double dy, const float *background, SAMPLE *out, size_t count) {
    const wi_float4 back = {background[0], background[1], background[2], background[3]};
    for (size_t i = 0; i < count; i++) {
        const double sx = x + (double)i * dx, sy = y + (double)i * dy;
        const double inX = sx < (double)width - sx ? sx : (double)width - sx;
        const double inY = sy < (double)height - sy ? sy : (double)height - sy;
        wi_float4 v = back;
        if (inX > -0.5 && inY > -0.5) {
            const float cover = wi_clamp((float)inX + 0.5f, 0, 1) * wi_clamp((float)inY + 0.5f, 0, 1);
            v = NAME(interpolated)(src, stride, (ptrdiff_t)width, (ptrdiff_t)height, sx, sy) * cover;
            v += back * (1 - v[3] / MAXIMUM);
        }
        v += 0.5f;
        const float alpha = v[3] > MAXIMUM ? MAXIMUM : v[3];
        for (int c = 0; c < 3; c++) out[i * 4 + (size_t)c] = (SAMPLE)(v[c] > alpha ? alpha : v[c]);
        out[i * 4 + 3] = (SAMPLE)alpha;
    }
}

WI_DISPATCH_NAMED(void, NAME(wi_rotate_row),
                  (const SAMPLE *src, size_t stride, size_t width, size_t height, double x, double y, double dx,
                   double dy, const float *background, SAMPLE *out, size_t count),
                  (src, stride, width, height, x, y, dx, dy, background, out, count))
