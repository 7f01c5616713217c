// SPDX-License-Identifier: MIT
#include "CPixelKernels.h"

#define RGBA8(result, name, parameters) .name = wi_##name##_rgba8,
#define RGBA16(result, name, parameters) .name = wi_##name##_rgba16,

const wi_pixel_kernels wi_kernels_rgba8 = {
    WI_FORMAT_KERNELS(RGBA8).light_row_opaque = wi_light_row_rgb8,
    .encode_row = wi_encode_deep_rgba8,
    .encode_row_opaque = wi_encode_deep_rgb8,
};

const wi_pixel_kernels wi_kernels_rgba16 = {
    WI_FORMAT_KERNELS(RGBA16).light_row_opaque = wi_light_row_rgb16,
    .encode_row = wi_encode_light_rgba16,
    .encode_row_opaque = wi_encode_light_rgb16,
};
