// SPDX-License-Identifier: MIT
#include "CPixelKernels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void wi_premultiply_rgba8(uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++, p += 4)
        for (int c = 0; c < 3; c++) p[c] = (uint8_t)((p[c] * p[3] + 127) / 255);
}
bool wi_is_opaque_rgba8(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i * 4 + 3] != 255) return 0;
    return 1;
}
static double kernel(double t, int box) {
    t = fabs(t);
    if (box) return t <= 0.5 ? 1 : 0;
    if (t < 1e-9) return 1;
    if (t >= 3) return 0;
    double a = M_PI * t;
    return 3 * sin(a) * sin(a / 3) / (a * a);
}
typedef struct { long first; int count; float *w; } taps;
static taps *make(size_t n, double from, double extent, size_t limit, int box) {
    taps *t = calloc(n, sizeof *t);
    double scale = extent / (double)n, f = scale < 1 ? 1 : scale, r = (box ? 0.5 : 3) * f;
    for (size_t i = 0; i < n; i++) {
        double c = from + ((double)i + 0.5) * scale;
        long a = (long)floor(c - r), b = (long)ceil(c + r);
        if (a < 0) a = 0;
        if (b > (long)limit) b = (long)limit;
        if (b <= a) { b = a + 1; if (b > (long)limit) { b = (long)limit; a = b - 1; } }
        t[i].first = a; t[i].count = (int)(b - a); t[i].w = calloc((size_t)(b - a), sizeof(float));
        double sum = 0;
        for (long k = a; k < b; k++) {
            double v;
            if (box) {
                double lo = k > c - r ? k : c - r, hi = k + 1 < c + r ? k + 1 : c + r;
                v = hi > lo ? hi - lo : 0;
            } else {
                /* The picture may end inside the last pixel. */
                double e = (double)k + 1 > from + extent && (double)k < from + extent ? from + extent - k : 1;
                v = kernel(((double)k + 0.5 - c) / f, 0) * e;
            }
            t[i].w[k - a] = (float)v; sum += v;
        }
        if (sum == 0) { t[i].w[0] = 1; sum = 1; }
        for (long k = a; k < b; k++) t[i].w[k - a] /= (float)sum;
    }
    return t;
}
static void drop(taps *t, size_t n) { for (size_t i = 0; i < n; i++) free(t[i].w); free(t); }
int wi_resample_simple(const uint8_t *s, size_t sw, size_t sh, size_t ss, double x, double y, double w, double h,
                       uint8_t *o, size_t ow, size_t oh, size_t os, int box) {
    taps *tx = make(ow, x, w, sw, box), *ty = make(oh, y, h, sh, box);
    float *mid = malloc(sh * ow * 4 * sizeof(float));
    for (size_t r = 0; r < sh; r++)
        for (size_t i = 0; i < ow; i++) {
            float a[4] = {0};
            for (int k = 0; k < tx[i].count; k++)
                for (int c = 0; c < 4; c++) a[c] += tx[i].w[k] * s[r * ss + (size_t)(tx[i].first + k) * 4 + (size_t)c];
            memcpy(mid + (r * ow + i) * 4, a, sizeof a);
        }
    for (size_t r = 0; r < oh; r++)
        for (size_t i = 0; i < ow; i++) {
            float a[4] = {0};
            for (int k = 0; k < ty[r].count; k++)
                for (int c = 0; c < 4; c++) a[c] += ty[r].w[k] * mid[((size_t)(ty[r].first + k) * ow + i) * 4 + (size_t)c];
            uint8_t *d = o + r * os + i * 4;
            for (int c = 3; c >= 0; c--) {
                float v = a[c] < 0 ? 0 : a[c] > 255 ? 255 : a[c];
                d[c] = (uint8_t)(v + 0.5f);
                if (c < 3 && d[c] > d[3]) d[c] = d[3];
            }
        }
    free(mid); drop(tx, ow); drop(ty, oh);
    return 0;
}

void wi_unpremultiply_rgba8(const uint8_t *s, uint8_t *d, size_t n) {
    for (size_t i = 0; i < n; i++, s += 4, d += 4) {
        unsigned a = s[3];
        for (int c = 0; c < 3; c++) {
            unsigned v = a ? (s[c] * 255u + a / 2) / a : 0;
            d[c] = (uint8_t)(v > 255 ? 255 : v);
        }
        d[3] = (uint8_t)a;
    }
}
