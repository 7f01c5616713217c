// SPDX-License-Identifier: MIT
#pragma once
#include <jxl/decode.h>
#include <stddef.h>
#include <stdint.h>
#include "CJXL.h"

/// Pictures in libjxl's own colours come out as sRGB, but with the range they were made for; others as stored, with their profile.
void wi_jxl_choose_colours(JxlDecoder *decoder);
/// The profile of the pixels as malloc'ed bytes, NULL where they are sRGB; `info` gets its size and the code points.
uint8_t *wi_jxl_read_profile(JxlDecoder *decoder, wi_jxl_info *info);
