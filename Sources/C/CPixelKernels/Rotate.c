// SPDX-License-Identifier: MIT
// One row of a rotated picture: Catmull-Rom interpolation of premultiplied pixels, edges clamped and then covered by
// their distance, so that they are smooth and no colour from outside bleeds in.
#include "Depths.h"
#include <math.h>

WI_INLINE void wi_cubic(float f, float w[4]) {
    w[0] = ((2 - f) * f - 1) * f * 0.5f;
    w[1] = ((3 * f - 5) * f * f + 2) * 0.5f;
    w[2] = ((4 - 3 * f) * f + 1) * f * 0.5f;
    w[3] = (f - 1) * f * f * 0.5f;
}

WI_INLINE ptrdiff_t wi_inside(ptrdiff_t i, ptrdiff_t count) { return i < 0 ? 0 : i < count ? i : count - 1; }

#define KERNELS "RotateKernels.h"
#include "EachDepth.h"
