// SPDX-License-Identifier: MIT
// One row of a rotated image, with Catmull-Rom interpolation of premultiplied pixels. Coordinates are clamped at the
// edges, and then pixels are weighted by their distance from the edge. Therefore, edges are smooth, and no color from
// outside bleeds in.
#include "Depths.h"
#include <math.h>

WI_INLINE float wi_between(const float *table, float place) {
    int32_t index = (int32_t)place;
    return table[index] + (table[index + 1] - table[index]) * (place - (float)index);
}

WI_INLINE void wi_cubic(float f, float w[4]) {
    w[0] = ((2 - f) * f - 1) * f * 0.5f;
    w[1] = ((3 * f - 5) * f * f + 2) * 0.5f;
    w[2] = ((4 - 3 * f) * f + 1) * f * 0.5f;
    w[3] = (f - 1) * f * f * 0.5f;
}

WI_INLINE ptrdiff_t wi_inside(ptrdiff_t i, ptrdiff_t count) { return i < 0 ? 0 : i < count ? i : count - 1; }

#define KERNELS "RotateKernels.h"
#include "EachDepth.h"
