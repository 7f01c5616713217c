// SPDX-License-Identifier: MIT
// Separable resampling. The columns are first, so one row of sums is the only memory needed.
#include "Depths.h"
#include <string.h>

WI_INLINE wi_float4 load4(const float *p) {
    wi_float4 v;
    memcpy(&v, p, sizeof v);
    return v;
}

#define ROW(rows, stride, index) ((rows) + (size_t)(index) * (stride) / sizeof *(rows))

#define KERNELS "ResampleKernels.h"
#include "EachDepth.h"
