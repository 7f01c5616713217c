// SPDX-License-Identifier: MIT
#pragma once
#include <jxl/decode.h>
#include <stddef.h>
#include <stdint.h>
#include "CJXL.h"

/// Selects the output color space. Images in libjxl's internal color space are decoded to sRGB, or to their original
/// encoding if it's HDR. Other images keep their stored color space and profile.
void wi_jxl_choose_colours(JxlDecoder *decoder);
/// Returns the color profile of the pixels, which the caller must release with free, or NULL if the pixels are sRGB.
/// `info` receives the size of the profile and the code points.
uint8_t *wi_jxl_read_profile(JxlDecoder *decoder, wi_jxl_info *info);
