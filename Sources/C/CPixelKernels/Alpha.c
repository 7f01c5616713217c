// SPDX-License-Identifier: MIT
#include "Dispatch.h"
#include <string.h>

// Multiply red and blue in one product, and green in another. (v + 128 + ((v + 128) >> 8)) >> 8 is v / 255 rounded to
// nearest for every v up to 65025.
WI_INLINE void wi_premultiply_rgba8_body(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t p;
        memcpy(&p, pixels + i * 4, 4);
        uint32_t alpha = p >> 24;
        uint32_t ends = (p & 0xff00ff) * alpha + 0x800080;
        ends = ((ends + ((ends >> 8) & 0xff00ff)) >> 8) & 0xff00ff;
        uint32_t middle = ((p >> 8) & 0xff) * alpha + 0x80;
        middle = (middle + (middle >> 8)) & 0xff00;
        p = (p & 0xff000000) | ends | middle;
        memcpy(pixels + i * 4, &p, 4);
    }
}

WI_INLINE void wi_unpremultiply_rgba8_body(const uint8_t *src, uint8_t *dst, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t p, out;
        memcpy(&p, src + i * 4, 4);
        uint32_t alpha = p >> 24;
        // The result is exact. Unless a quotient is exactly halfway between two integers, its distance from the
        // halfway point is at least 1/510, which is far more than float's error.
        float factor = alpha ? 255.0f / (float)alpha : 0;
        out = alpha << 24;
        for (int shift = 0; shift < 24; shift += 8) {
            float v = (float)((p >> shift) & 0xff) * factor + 0.5f + 1.0f / 2048;
            out |= (uint32_t)(int32_t)(v > 255 ? 255 : v) << shift;
        }
        out = alpha ? out : 0;
        memcpy(dst + i * 4, &out, 4);
    }
}

WI_INLINE bool wi_is_opaque_rgba8_body(const uint8_t *pixels, size_t count) {
    const size_t block = 1024;
    for (size_t start = 0; start < count; start += block) {
        size_t n = count - start < block ? count - start : block;
        uint32_t all = 0xffffffff;
        for (size_t i = 0; i < n; i++) {
            uint32_t p;
            memcpy(&p, pixels + (start + i) * 4, 4);
            all &= p;
        }
        if (all >> 24 != 0xff) return false;
    }
    return true;
}

WI_INLINE bool wi_is_opaque_rgba16_body(const uint16_t *pixels, size_t count) {
    const size_t block = 1024;
    for (size_t start = 0; start < count; start += block) {
        size_t n = count - start < block ? count - start : block;
        uint16_t all = 0xffff;
        for (size_t i = 0; i < n; i++) all &= pixels[(start + i) * 4 + 3];
        if (all != 0xffff) return false;
    }
    return true;
}

WI_DISPATCH(void, wi_premultiply_rgba8, (void *pixels, size_t count), (pixels, count))
WI_DISPATCH(void, wi_unpremultiply_rgba8, (const void *src, void *dst, size_t count), (src, dst, count))
WI_DISPATCH(bool, wi_is_opaque_rgba8, (const void *pixels, size_t count), (pixels, count))
WI_DISPATCH(bool, wi_is_opaque_rgba16, (const void *pixels, size_t count), (pixels, count))
