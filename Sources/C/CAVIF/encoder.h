// SPDX-License-Identifier: MIT
#pragma once
#include <avif/avif.h>
#include "CAVIF.h"

/// Creates the image to encode. The caller must destroy `*image`, even after a failure.
avifResult wi_avif_picture(const void *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                           wi_avif_options options, const wi_avif_blocks *blocks, avifImage **image);
void wi_avif_configure(avifEncoder *encoder, wi_avif_options options);
