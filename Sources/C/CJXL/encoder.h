// SPDX-License-Identifier: MIT
#pragma once
#include <jxl/encode.h>
#include "CJXL.h"

/// What was encoded so far; `bytes` is to be freed.
typedef struct {
    uint8_t *bytes;
    size_t used;
    size_t room;
} wi_jxl_output;

/// `loops` is NULL for stills; ticks are milliseconds.
int wi_jxl_start(JxlEncoder *encoder, const wi_jxl_picture *picture, const wi_jxl_blocks *blocks, int is_lossless,
                 const uint32_t *loops);
/// How the pixels lie.
JxlPixelFormat wi_jxl_format(const wi_jxl_picture *picture);
/// NULL where an option is refused; freed with the encoder.
JxlEncoderFrameSettings *wi_jxl_settings(JxlEncoder *encoder, float distance, int effort);
/// Encodes all that was added.
wi_jxl_status wi_jxl_drain(JxlEncoder *encoder, wi_jxl_output *output);
