// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <stdlib.h>
#include "CJXL.h"
#include "library.h"
#include "encoder.h"

/// The reference slot of the canvas. Slot 0 wouldn't keep visible frames.
#define CANVAS 1

struct wi_jxl_animator {
    JxlEncoder *encoder;
    JxlEncoderFrameSettings *settings;
    wi_jxl_picture picture;
    wi_jxl_output output;
};

wi_jxl_animator *wi_jxl_animator_open(const wi_jxl_picture *picture, const wi_jxl_blocks *blocks, uint32_t loops,
                                      float distance, int effort) {
    wi_jxl_animator *animator = calloc(1, sizeof *animator);
    if (!animator) return NULL;
    animator->picture = *picture;
    animator->encoder = libjxl.JxlEncoderCreate(NULL);
    if (animator->encoder && wi_jxl_start(animator->encoder, picture, blocks, distance <= 0, &loops))
        animator->settings = wi_jxl_settings(animator->encoder, distance, effort);
    if (!animator->settings) {
        wi_jxl_animator_close(animator);
        return NULL;
    }
    return animator;
}

void wi_jxl_animator_close(wi_jxl_animator *animator) {
    if (!animator) return;
    if (animator->encoder) libjxl.JxlEncoderDestroy(animator->encoder);
    free(animator->output.bytes);
    free(animator);
}

static int place(wi_jxl_animator *animator, const wi_jxl_part *part) {
    JxlFrameHeader header;
    libjxl.JxlEncoderInitFrameHeader(&header);
    header.duration = part->milliseconds;
    header.layer_info.have_crop = part->is_partial ? JXL_TRUE : JXL_FALSE;
    header.layer_info.crop_x0 = (int32_t)part->x;
    header.layer_info.crop_y0 = (int32_t)part->y;
    header.layer_info.xsize = part->width;
    header.layer_info.ysize = part->height;
    header.layer_info.blend_info.blendmode = JXL_BLEND_REPLACE;
    header.layer_info.blend_info.source = part->is_partial ? CANVAS : 0;
    header.layer_info.save_as_reference = part->is_last ? 0 : CANVAS;
    if (libjxl.JxlEncoderSetFrameHeader(animator->settings, &header) != JXL_ENC_SUCCESS) return 0;
    return animator->picture.channels < 4 ||
           libjxl.JxlEncoderSetExtraChannelBlendInfo(animator->settings, 0, &header.layer_info.blend_info) == JXL_ENC_SUCCESS;
}

wi_jxl_status wi_jxl_animator_add(wi_jxl_animator *animator, const void *pixels, const wi_jxl_part *part) {
    const JxlPixelFormat format = wi_jxl_format(&animator->picture);
    size_t size = (size_t)part->width * part->height * animator->picture.channels * (animator->picture.bits / 8);
    if (!place(animator, part) ||
        libjxl.JxlEncoderAddImageFrame(animator->settings, &format, pixels, size) != JXL_ENC_SUCCESS)
        return WI_JXL_CORRUPT;
    // libjxl marks the last frame only if the input is closed before that frame is encoded.
    if (part->is_last) libjxl.JxlEncoderCloseInput(animator->encoder);
    return wi_jxl_drain(animator->encoder, &animator->output);
}

const uint8_t *wi_jxl_animator_bytes(const wi_jxl_animator *animator, size_t *count) {
    *count = animator->output.used;
    return animator->output.bytes;
}
#endif
