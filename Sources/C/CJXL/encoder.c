// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <jxl/encode.h>
#include <stdlib.h>
#include <string.h>
#include "CJXL.h"
#include "library.h"
#include "colours.h"
#include "encoder.h"

static int embed(JxlEncoder *encoder, const wi_jxl_blocks *blocks) {
    if (!blocks->exif_count && !blocks->xmp_count) return 1;
    if (libjxl.JxlEncoderUseBoxes(encoder) != JXL_ENC_SUCCESS) return 0;
    if (blocks->exif_count) {
        // The box begins with the offset of the EXIF block.
        uint8_t *box = calloc(1, blocks->exif_count + 4);
        if (!box) return 0;
        memcpy(box + 4, blocks->exif, blocks->exif_count);
        JxlEncoderStatus status = libjxl.JxlEncoderAddBox(encoder, "Exif", box, blocks->exif_count + 4, JXL_FALSE);
        free(box);
        if (status != JXL_ENC_SUCCESS) return 0;
    }
    if (blocks->xmp_count &&
        libjxl.JxlEncoderAddBox(encoder, "xml ", blocks->xmp, blocks->xmp_count, JXL_FALSE) != JXL_ENC_SUCCESS)
        return 0;
    libjxl.JxlEncoderCloseBoxes(encoder);
    return 1;
}

int wi_jxl_start(JxlEncoder *encoder, const wi_jxl_picture *picture, const wi_jxl_blocks *blocks, int is_lossless,
                 const uint32_t *loops) {
    JxlBasicInfo info;
    libjxl.JxlEncoderInitBasicInfo(&info);
    info.xsize = picture->width;
    info.ysize = picture->height;
    info.bits_per_sample = picture->bits;
    info.num_color_channels = 3;
    info.num_extra_channels = picture->channels == 4;
    info.alpha_bits = picture->channels == 4 ? picture->bits : 0;
    info.uses_original_profile = is_lossless || picture->keeps_space;
    if (loops) {
        info.have_animation = JXL_TRUE;
        info.animation.tps_numerator = 1000;
        info.animation.tps_denominator = 1;
        info.animation.num_loops = *loops;
    }
    JxlColorEncoding colours = wi_jxl_encoding(blocks->colors);
    return libjxl.JxlEncoderSetBasicInfo(encoder, &info) == JXL_ENC_SUCCESS && embed(encoder, blocks) &&
           (blocks->icc_count && !blocks->colors ? libjxl.JxlEncoderSetICCProfile(encoder, blocks->icc, blocks->icc_count)
                              : libjxl.JxlEncoderSetColorEncoding(encoder, &colours)) == JXL_ENC_SUCCESS;
}

JxlPixelFormat wi_jxl_format(const wi_jxl_picture *picture) {
    const JxlPixelFormat format = {picture->channels, picture->bits > 8 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                                   JXL_NATIVE_ENDIAN, 0};
    return format;
}

JxlEncoderFrameSettings *wi_jxl_settings(JxlEncoder *encoder, float distance, int effort) {
    JxlEncoderFrameSettings *settings = libjxl.JxlEncoderFrameSettingsCreate(encoder, NULL);
    if (!settings) return NULL;
    if (effort > 0 &&
        libjxl.JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort) != JXL_ENC_SUCCESS)
        return NULL;
    JxlEncoderStatus status = distance > 0 ? libjxl.JxlEncoderSetFrameDistance(settings, distance)
                                           : libjxl.JxlEncoderSetFrameLossless(settings, JXL_TRUE);
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
        JxlEncoderStatus status = libjxl.JxlEncoderProcessOutput(encoder, &next, &left);
        output->used = (size_t)(next - output->bytes);
        if (status == JXL_ENC_SUCCESS) return WI_JXL_OK;
        if (status != JXL_ENC_NEED_MORE_OUTPUT) return WI_JXL_CORRUPT;
    }
}

wi_jxl_status wi_jxl_encode(const void *pixels, const wi_jxl_picture *picture, const wi_jxl_blocks *blocks,
                            float distance, int effort, int is_progressive, uint8_t **bytes, size_t *count) {
    const JxlPixelFormat format = wi_jxl_format(picture);
    JxlEncoder *encoder = libjxl.JxlEncoderCreate(NULL);
    if (!encoder) return WI_JXL_MEMORY;
    wi_jxl_output output = {NULL, 0, 0};
    wi_jxl_status status = WI_JXL_CORRUPT;
    if (wi_jxl_start(encoder, picture, blocks, distance <= 0, NULL)) {
        JxlEncoderFrameSettings *settings = wi_jxl_settings(encoder, distance, effort);
        // Lossy files always begin with the image at one eighth of its size.
        if (settings && is_progressive && distance <= 0 &&
            libjxl.JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_RESPONSIVE, 1) != JXL_ENC_SUCCESS)
            settings = NULL;
        size_t size = (size_t)picture->width * picture->height * picture->channels * (picture->bits / 8);
        if (settings && libjxl.JxlEncoderAddImageFrame(settings, &format, pixels, size) == JXL_ENC_SUCCESS) {
            libjxl.JxlEncoderCloseInput(encoder);
            status = wi_jxl_drain(encoder, &output);
        }
    }
    libjxl.JxlEncoderDestroy(encoder);
    if (status != WI_JXL_OK) {
        free(output.bytes);
        return status;
    }
    *bytes = output.bytes;
    *count = output.used;
    return WI_JXL_OK;
}

wi_jxl_status wi_jxl_transcode(const uint8_t *jpeg, size_t jpeg_count, int effort, uint8_t **bytes, size_t *count) {
    JxlEncoder *encoder = libjxl.JxlEncoderCreate(NULL);
    if (!encoder) return WI_JXL_MEMORY;
    wi_jxl_output output = {NULL, 0, 0};
    wi_jxl_status status = WI_JXL_CORRUPT;
    JxlEncoderFrameSettings *settings = libjxl.JxlEncoderFrameSettingsCreate(encoder, NULL);
    if (settings && libjxl.JxlEncoderUseContainer(encoder, JXL_TRUE) == JXL_ENC_SUCCESS &&
        libjxl.JxlEncoderStoreJPEGMetadata(encoder, JXL_TRUE) == JXL_ENC_SUCCESS &&
        (!effort ||
         libjxl.JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort) == JXL_ENC_SUCCESS) &&
        libjxl.JxlEncoderAddJPEGFrame(settings, jpeg, jpeg_count) == JXL_ENC_SUCCESS) {
        libjxl.JxlEncoderCloseInput(encoder);
        status = wi_jxl_drain(encoder, &output);
    }
    libjxl.JxlEncoderDestroy(encoder);
    if (status != WI_JXL_OK) {
        free(output.bytes);
        return status;
    }
    *bytes = output.bytes;
    *count = output.used;
    return WI_JXL_OK;
}
#endif
