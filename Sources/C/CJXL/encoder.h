// SPDX-License-Identifier: MIT
#pragma once
#include <jxl/encode.h>
#include "CJXL.h"

/// The encoded data so far. The caller must release `bytes` with free.
typedef struct {
    uint8_t *bytes;
    size_t used;
    size_t room;
} wi_jxl_output;

/// Configures an encoder. `loops` is NULL for still images. One tick is one millisecond.
int wi_jxl_start(JxlEncoder *encoder, const wi_jxl_picture *picture, const wi_jxl_blocks *blocks, int is_lossless,
                 const uint32_t *loops);
/// Returns the layout of the pixels.
JxlPixelFormat wi_jxl_format(const wi_jxl_picture *picture);
/// Creates frame settings, which are destroyed with the encoder. Returns NULL if libjxl rejects an option.
JxlEncoderFrameSettings *wi_jxl_settings(JxlEncoder *encoder, float distance, int effort);
/// Encodes all frames that were added.
wi_jxl_status wi_jxl_drain(JxlEncoder *encoder, wi_jxl_output *output);
