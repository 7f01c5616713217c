// SPDX-License-Identifier: MIT
// The conversion of pixels to luma and reduced chroma for encoders (JFIF 1.02, section “Standard”).
//
// A decoder interpolates the reduced chroma, so a pixel at an edge between two colors receives a mixture of their
// chroma. With the luma of the pixel, this mixture has the wrong light: pure red next to black becomes too dark. The
// second kernel changes the luma so that the decoded pixel has the light of the original pixel again. Both kernels
// approximate light by the square of a sample, which vector instructions compute without tables.
#include "Dispatch.h"
#include "PixelChroma.h"

/// The number of pixels whose interpolated chroma is computed together. It's even.
enum { STRIP = 128 };

WI_INLINE float within(float v) { return v > 0 ? (v < 255 ? v : 255) : 0; }

WI_INLINE void chroma(const float *c, uint8_t *cb, uint8_t *cr) {
    *cb = (uint8_t)within(-0.168735892f * c[0] - 0.331264108f * c[1] + 0.5f * c[2] + 128.5f);
    *cr = (uint8_t)within(0.5f * c[0] - 0.418687589f * c[1] - 0.081312411f * c[2] + 128.5f);
}

WI_INLINE void wi_chroma_row_body(const uint8_t *top, const uint8_t *bottom, size_t width, uint8_t *cb, uint8_t *cr) {
    for (size_t i = 0; i < width / 2; i++) {
        float c[3];
        for (int k = 0; k < 3; k++) {
            const int32_t a = top[i * 8 + k], b = top[i * 8 + 4 + k], d = bottom[i * 8 + k], e = bottom[i * 8 + 4 + k];
            c[k] = WI_SQRT((float)(a * a + b * b + d * d + e * e) * 0.25f);
        }
        chroma(c, cb + i, cr + i);
    }
    if (width % 2 == 0) return;
    float c[3];
    for (int k = 0; k < 3; k++) {
        const int32_t a = top[width * 4 - 4 + k], d = bottom[width * 4 - 4 + k];
        c[k] = WI_SQRT((float)(a * a + d * d) * 0.5f);
    }
    chroma(c, cb + width / 2, cr + width / 2);
}

/// Interpolates the chroma of `count` pixels from the position `start` on, as decoders do: three quarters of the nearest
/// sample and one quarter of the next one, in both directions.
WI_INLINE void interpolate(const uint8_t *near, const uint8_t *far, size_t start, size_t count, size_t samples,
                           float *restrict out) {
    float column[STRIP / 2 + 2];
    const size_t first = start / 2, columns = (count + 1) / 2;
    for (size_t i = 0; i < columns; i++)
        column[i + 1] = (float)(3 * near[first + i] + far[first + i]) * (1.0f / 16) - 32;
    const size_t before = first > 0 ? first - 1 : 0, after = first + columns < samples ? first + columns : samples - 1;
    column[0] = (float)(3 * near[before] + far[before]) * (1.0f / 16) - 32;
    column[columns + 1] = (float)(3 * near[after] + far[after]) * (1.0f / 16) - 32;
    for (size_t i = 0; i < columns; i++) {
        out[2 * i] = 3 * column[i + 1] + column[i];
        out[2 * i + 1] = 3 * column[i + 1] + column[i + 2];
    }
}

/// Returns the square root of the light of a pixel. With the weights of luma, the files are smaller and closer to the
/// original, according to SSIMULACRA2, than with those of luminance.
WI_INLINE float brightness(float r, float g, float b) { return WI_SQRT(0.299f * r * r + 0.587f * g * g + 0.114f * b * b); }

WI_INLINE void wi_luma_row_body(const uint8_t *pixels, size_t width, const uint8_t *const near[2],
                                const uint8_t *const far[2], uint8_t *luma) {
    const size_t samples = (width + 1) / 2;
    float cb[STRIP], cr[STRIP];
    for (size_t start = 0; start < width; start += STRIP) {
        const size_t count = width - start < STRIP ? width - start : STRIP;
        interpolate(near[0], far[0], start, count, samples, cb);
        interpolate(near[1], far[1], start, count, samples, cr);
        const uint8_t *p = pixels + start * 4;
        for (size_t i = 0; i < count; i++) {
            const float r = p[i * 4], g = p[i * 4 + 1], b = p[i * 4 + 2];
            const float y = 0.299f * r + 0.587f * g + 0.114f * b;
            const float decoded = brightness(within(y + 1.402f * cr[i]),
                                             within(y - 0.344136286f * cb[i] - 0.714136286f * cr[i]),
                                             within(y + 1.772f * cb[i]));
            luma[start + i] = (uint8_t)within(y + (brightness(r, g, b) - decoded) + 0.5f);
        }
    }
}

WI_DISPATCH(void, wi_chroma_row,
            (const uint8_t *top, const uint8_t *bottom, size_t width, uint8_t *cb, uint8_t *cr),
            (top, bottom, width, cb, cr))
WI_DISPATCH(void, wi_luma_row,
            (const uint8_t *pixels, size_t width, const uint8_t *const near[2], const uint8_t *const far[2],
             uint8_t *luma),
            (pixels, width, near, far, luma))
