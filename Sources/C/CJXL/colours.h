// SPDX-License-Identifier: MIT
#pragma once
#include <jxl/decode.h>
#include <stddef.h>
#include <stdint.h>
#include "CJXL.h"

/// Selects the output color space. Images in libjxl's internal color space are decoded to `space`, or to their original
/// encoding if it's HDR. Other images keep their stored color space and profile.
void wi_jxl_choose_colours(JxlDecoder *decoder, wi_jxl_space space);
/// Returns the color encoding for an encoder, which is sRGB if `colors` is NULL.
JxlColorEncoding wi_jxl_encoding(const wi_jxl_colors *colors);
/// Reads the color spaces of the pixels and of the file, which the caller must release with wi_jxl_free_colours.
void wi_jxl_read_colours(JxlDecoder *decoder, wi_jxl_info *info);
void wi_jxl_free_colours(wi_jxl_info *info);
