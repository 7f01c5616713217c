// SPDX-License-Identifier: MIT
// A Gaussian blur with three box passes, whose fractional edges match the requested variance exactly. Lines are
// interleaved, so the running sums of eight pixels are updated together, and rows are as fast as columns.
#include "Depths.h"
#include <string.h>

#define LANES 8
#define SAMPLES (LANES * 4)

typedef struct {
    wi_float16 low, high;
} wi_wide;

WI_INLINE wi_wide load_wide(const float *p) {
    wi_wide v;
    memcpy(&v, p, sizeof v);
    return v;
}

WI_INLINE void box_pass(const float *restrict in, float *restrict out, ptrdiff_t count, wi_box box) {
    const ptrdiff_t r = box.radius, last = count - 1;
    // Use double precision, because a rounding error here would stay in every sum of the line.
    double start[SAMPLES];
    for (int l = 0; l < SAMPLES; l++) start[l] = in[l] * (double)(r + 1);
    for (ptrdiff_t i = 1; i <= (r < last ? r : last); i++)
        for (int l = 0; l < SAMPLES; l++) start[l] += in[i * SAMPLES + l];
    for (int l = 0; r > last && l < SAMPLES; l++) start[l] += in[last * SAMPLES + l] * (double)(r - last);
    float rounded[SAMPLES];
    for (int l = 0; l < SAMPLES; l++) rounded[l] = (float)start[l];
    wi_wide sum = load_wide(rounded);
    for (ptrdiff_t i = 0; i < count; i++) {
        const wi_wide before = load_wide(in + (i - r - 1 > 0 ? i - r - 1 : 0) * SAMPLES);
        const wi_wide tail = load_wide(in + (i - r > 0 ? i - r : 0) * SAMPLES);
        const wi_wide after = load_wide(in + (i + r + 1 < last ? i + r + 1 : last) * SAMPLES);
        wi_wide v = {(sum.low + (before.low + after.low) * box.edge) * box.scale,
                     (sum.high + (before.high + after.high) * box.edge) * box.scale};
        memcpy(out + i * SAMPLES, &v, sizeof v);
        sum.low += after.low - tail.low;
        sum.high += after.high - tail.high;
    }
}

#define KERNELS "BlurKernels.h"
#include "EachDepth.h"
