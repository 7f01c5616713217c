// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <jxl/encode.h>
#include <stdlib.h>
#include "CJXL.h"
#include "encoder.h"

int wi_jxl_start(JxlEncoder *encoder, uint32_t width, uint32_t height, uint32_t channels, int is_lossless,
                 const uint32_t *loops) {
    JxlBasicInfo info;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = width;
    info.ysize = height;
    info.bits_per_sample = 8;
    info.num_color_channels = 3;
    info.num_extra_channels = channels == 4;
    info.alpha_bits = channels == 4 ? 8 : 0;
    info.uses_original_profile = is_lossless;
    if (loops) {
        info.have_animation = JXL_TRUE;
        info.animation.tps_numerator = 1000;
        info.animation.tps_denominator = 1;
        info.animation.num_loops = *loops;
    }
    JxlColorEncoding colours;
    JxlColorEncodingSetToSRGB(&colours, JXL_FALSE);
    return JxlEncoderSetBasicInfo(encoder, &info) == JXL_ENC_SUCCESS &&
           JxlEncoderSetColorEncoding(encoder, &colours) == JXL_ENC_SUCCESS;
}

JxlEncoderFrameSettings *wi_jxl_settings(JxlEncoder *encoder, float distance, int effort) {
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
    if (!settings) return NULL;
    if (effort > 0 &&
        JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort) != JXL_ENC_SUCCESS)
        return NULL;
    JxlEncoderStatus status = distance > 0 ? JxlEncoderSetFrameDistance(settings, distance)
                                           : JxlEncoderSetFrameLossless(settings, JXL_TRUE);
    return status == JXL_ENC_SUCCESS ? settings : NULL;
}

wi_jxl_status wi_jxl_drain(JxlEncoder *encoder, wi_jxl_output *output) {
    for (;;) {
        if (output->room - output->used < 1 << 12) {
            size_t room = output->room ? output->room * 2 : 1 << 16;
            uint8_t *larger = realloc(output->bytes, room);
            if (!larger) return WI_JXL_MEMORY;
            output->bytes = larger;
            output->room = room;
        }
        uint8_t *next = output->bytes + output->used;
        size_t left = output->room - output->used;
        JxlEncoderStatus status = JxlEncoderProcessOutput(encoder, &next, &left);
        output->used = (size_t)(next - output->bytes);
        if (status == JXL_ENC_SUCCESS) return WI_JXL_OK;
        if (status != JXL_ENC_NEED_MORE_OUTPUT) return WI_JXL_CORRUPT;
    }
}

wi_jxl_status wi_jxl_encode(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, float distance,
                            int effort, uint8_t **bytes, size_t *count) {
    const JxlPixelFormat format = {channels, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    if (!encoder) return WI_JXL_MEMORY;
    wi_jxl_output output = {NULL, 0, 0};
    wi_jxl_status status = WI_JXL_CORRUPT;
    if (wi_jxl_start(encoder, width, height, channels, distance <= 0, NULL)) {
        JxlEncoderFrameSettings *settings = wi_jxl_settings(encoder, distance, effort);
        size_t size = (size_t)width * height * channels;
        if (settings && JxlEncoderAddImageFrame(settings, &format, pixels, size) == JXL_ENC_SUCCESS) {
            JxlEncoderCloseInput(encoder);
            status = wi_jxl_drain(encoder, &output);
        }
    }
    JxlEncoderDestroy(encoder);
    if (status != WI_JXL_OK) {
        free(output.bytes);
        return status;
    }
    *bytes = output.bytes;
    *count = output.used;
    return WI_JXL_OK;
}
#endif
