// SPDX-License-Identifier: MIT
// Included once per sample type. See Depths.h.

WI_INLINE void BODY(wi_render)(const SAMPLE *src, const float *map, uint16_t *dst, const wi_render *render,
                               size_t count) {
    const wi_render own = *render;
    for (size_t i = 0; i < count; i++, src += 4, dst += 4) {
        if (src[3] == 0) {
            memset(dst, 0, 8);
            continue;
        }
        float alpha = (float)src[3];
        float samples[3] = {(float)src[0] / alpha, (float)src[1] / alpha, (float)src[2] / alpha};
        wi_render_pixel(&own, samples, map ? map + i * 3 : NULL, alpha / MAXIMUM, dst);
    }
}

WI_INLINE void BODY(wi_map_row)(const SAMPLE *top, const SAMPLE *bottom, float fraction, double first, double step,
                                size_t map_width, float *out, size_t count) {
    for (size_t i = 0; i < count; i++, out += 3) {
        double place = first + step * (double)i;
        double last = (double)map_width - 1;
        place = place < 0 ? 0 : place > last ? last : place;
        size_t left = (size_t)place, right = left + 1 < map_width ? left + 1 : left;
        float rest = (float)(place - (double)left);
        for (int k = 0; k < 3; k++) {
            float upper = top[left * 4 + k] + ((float)top[right * 4 + k] - top[left * 4 + k]) * rest;
            float lower = bottom[left * 4 + k] + ((float)bottom[right * 4 + k] - bottom[left * 4 + k]) * rest;
            out[k] = wi_clamp((upper + (lower - upper) * fraction) / MAXIMUM, 0, 1);
        }
    }
}

WI_DISPATCH_NAMED(void, NAME(wi_render),
                  (const void *src, const float *map, uint16_t *dst, const wi_render *render, size_t count),
                  (src, map, dst, render, count))
WI_DISPATCH_NAMED(void, NAME(wi_map_row),
                  (const void *top, const void *bottom, float fraction, double first, double step, size_t map_width,
                   float *out, size_t count),
                  (top, bottom, fraction, first, step, map_width, out, count))
