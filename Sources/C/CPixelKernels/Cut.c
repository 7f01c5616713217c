// SPDX-License-Identifier: MIT
#include "Dispatch.h"

// Each pixel consists of `inner` of the image, `outer - inner` of the border over the image, and transparency for the
// rest. Colors and alpha use the same monotonic arithmetic, so color <= alpha remains true.
#define WI_CUT(name, sample, maximum)                                                                                 \
    WI_INLINE void name##_body(const sample *restrict src, sample *restrict dst, const float *outer,                  \
                               const float *inner, const float *border, size_t count) {                               \
        const float through = 1 - border[3] / (maximum);                                                              \
        for (size_t i = 0; i < count; i++) {                                                                          \
            float ring = outer[i] - inner[i], keep = inner[i] + through * ring;                                       \
            for (int c = 0; c < 4; c++)                                                                               \
                dst[i * 4 + c] = (sample)(src[i * 4 + c] * keep + border[c] * ring + 0.5f);                           \
        }                                                                                                             \
    }                                                                                                                 \
    WI_DISPATCH(void, name,                                                                                           \
                (const sample *src, sample *dst, const float *outer, const float *inner, const float *border,         \
                 size_t count),                                                                                       \
                (src, dst, outer, inner, border, count))

WI_CUT(wi_cut_rgba8, uint8_t, 255.0f)
WI_CUT(wi_cut_rgba16, uint16_t, 65535.0f)
