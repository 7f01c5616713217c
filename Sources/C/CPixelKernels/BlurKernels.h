// SPDX-License-Identifier: MIT
// Included once per sample type. See Depths.h.

WI_INLINE void BODY(wi_blur_lines)(const SAMPLE *src, SAMPLE *dst, ptrdiff_t src_step, ptrdiff_t src_lane,
                                   ptrdiff_t dst_step, ptrdiff_t dst_lane, size_t count, size_t lanes, wi_box box,
                                   float *scratch) {
    float *a = scratch, *b = scratch + count * SAMPLES;
    for (size_t i = 0; i < count; i++) {
        float *restrict to = a + i * SAMPLES;
        for (size_t l = 0; l < LANES; l++) {
            const SAMPLE *from = (const SAMPLE *)((const char *)src + (ptrdiff_t)i * src_step +
                                                  (ptrdiff_t)(l < lanes ? l : 0) * src_lane);
            for (int c = 0; c < 4; c++) to[l * 4 + c] = from[c];
        }
    }
    box_pass(a, b, (ptrdiff_t)count, box);
    box_pass(b, a, (ptrdiff_t)count, box);
    box_pass(a, b, (ptrdiff_t)count, box);
    for (size_t i = 0; i < count; i++) {
        const float *restrict from = b + i * SAMPLES;
        for (size_t l = 0; l < lanes; l++) {
            SAMPLE *to = (SAMPLE *)((char *)dst + (ptrdiff_t)i * dst_step + (ptrdiff_t)l * dst_lane);
            float alpha = wi_clamp(from[l * 4 + 3] + 0.5f, 0, MAXIMUM);
            for (int c = 0; c < 3; c++) to[c] = (SAMPLE)wi_clamp(from[l * 4 + c] + 0.5f, 0, alpha);
            to[3] = (SAMPLE)alpha;
        }
    }
}

WI_DISPATCH_NAMED(void, NAME(wi_blur_lines),
                  (const void *src, void *dst, ptrdiff_t src_step, ptrdiff_t src_lane, ptrdiff_t dst_step,
                   ptrdiff_t dst_lane, size_t count, size_t lanes, wi_box box, float *scratch),
                  (src, dst, src_step, src_lane, dst_step, dst_lane, count, lanes, box, scratch))
