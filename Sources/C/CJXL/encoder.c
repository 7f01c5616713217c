// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <jxl/encode.h>
#include <stdlib.h>
#include "CJXL.h"

static int start(JxlEncoder *encoder, uint32_t width, uint32_t height, uint32_t channels, int is_lossless) {
    JxlBasicInfo info;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = width;
    info.ysize = height;
    info.bits_per_sample = 8;
    info.num_color_channels = 3;
    info.num_extra_channels = channels == 4;
    info.alpha_bits = channels == 4 ? 8 : 0;
    info.uses_original_profile = is_lossless;
    JxlColorEncoding colours;
    JxlColorEncodingSetToSRGB(&colours, JXL_FALSE);
    return JxlEncoderSetBasicInfo(encoder, &info) == JXL_ENC_SUCCESS &&
           JxlEncoderSetColorEncoding(encoder, &colours) == JXL_ENC_SUCCESS;
}

static int add(JxlEncoder *encoder, const uint8_t *pixels, size_t size, uint32_t channels, float distance,
               int effort) {
    const JxlPixelFormat format = {channels, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
    if (!settings) return 0;
    if (effort > 0 &&
        JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort) != JXL_ENC_SUCCESS)
        return 0;
    JxlEncoderStatus status = distance > 0 ? JxlEncoderSetFrameDistance(settings, distance)
                                           : JxlEncoderSetFrameLossless(settings, JXL_TRUE);
    if (status != JXL_ENC_SUCCESS) return 0;
    if (JxlEncoderAddImageFrame(settings, &format, pixels, size) != JXL_ENC_SUCCESS) return 0;
    JxlEncoderCloseInput(encoder);
    return 1;
}

static wi_jxl_status collect(JxlEncoder *encoder, uint8_t **bytes, size_t *count) {
    size_t room = 1 << 16, used = 0;
    uint8_t *memory = malloc(room);
    while (memory) {
        uint8_t *next = memory + used;
        size_t left = room - used;
        JxlEncoderStatus status = JxlEncoderProcessOutput(encoder, &next, &left);
        used = (size_t)(next - memory);
        if (status == JXL_ENC_SUCCESS) {
            *bytes = memory;
            *count = used;
            return WI_JXL_OK;
        }
        if (status != JXL_ENC_NEED_MORE_OUTPUT) {
            free(memory);
            return WI_JXL_CORRUPT;
        }
        uint8_t *larger = realloc(memory, room *= 2);
        if (!larger) free(memory);
        memory = larger;
    }
    return WI_JXL_MEMORY;
}

wi_jxl_status wi_jxl_encode(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, float distance,
                            int effort, uint8_t **bytes, size_t *count) {
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    if (!encoder) return WI_JXL_MEMORY;
    wi_jxl_status status = WI_JXL_CORRUPT;
    if (start(encoder, width, height, channels, distance <= 0) &&
        add(encoder, pixels, (size_t)width * height * channels, channels, distance, effort))
        status = collect(encoder, bytes, count);
    JxlEncoderDestroy(encoder);
    return status;
}
#endif
