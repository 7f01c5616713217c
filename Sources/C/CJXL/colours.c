// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "colours.h"
#include <math.h>
#include <stdlib.h>

#define MAX_PROFILE (4u << 20)

static int is_hdr(const JxlColorEncoding *colours) {
    return colours->transfer_function == JXL_TRANSFER_FUNCTION_PQ ||
           colours->transfer_function == JXL_TRANSFER_FUNCTION_HLG;
}

void wi_jxl_choose_colours(JxlDecoder *decoder) {
    const JxlColorEncoding srgb = {
        .color_space = JXL_COLOR_SPACE_RGB, .white_point = JXL_WHITE_POINT_D65, .primaries = JXL_PRIMARIES_SRGB,
        .transfer_function = JXL_TRANSFER_FUNCTION_SRGB, .rendering_intent = JXL_RENDERING_INTENT_RELATIVE};
    JxlBasicInfo info;
    if (JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS || info.uses_original_profile) return;
    const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlColorEncoding wanted = srgb, original;
    if (JxlDecoderGetColorAsEncodedProfile(decoder, &format, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &original) ==
            JXL_DEC_SUCCESS &&
        is_hdr(&original))
        wanted = original;
    if (info.num_color_channels == 1) wanted.color_space = JXL_COLOR_SPACE_GRAY;
    (void)JxlDecoderSetPreferredColorProfile(decoder, &wanted);
}

static int is_srgb(const JxlColorEncoding *colours) {
    return (colours->color_space == JXL_COLOR_SPACE_RGB ? colours->primaries == JXL_PRIMARIES_SRGB
                                                        : colours->color_space == JXL_COLOR_SPACE_GRAY) &&
           colours->white_point == JXL_WHITE_POINT_D65 && colours->transfer_function == JXL_TRANSFER_FUNCTION_SRGB;
}

/// Reads the code points. The values of libjxl are those of ITU-T H.273, except for P3, for which libjxl has one value
/// and a separate white point.
static void read_code_points(const JxlColorEncoding *colours, wi_jxl_info *info) {
    uint32_t primaries = (uint32_t)colours->primaries;
    if (colours->color_space == JXL_COLOR_SPACE_GRAY)
        primaries = JXL_PRIMARIES_SRGB;
    else if (colours->color_space != JXL_COLOR_SPACE_RGB)
        return;
    if (primaries == JXL_PRIMARIES_P3 && colours->white_point == JXL_WHITE_POINT_D65)
        primaries = 12;
    else if (primaries == JXL_PRIMARIES_CUSTOM ||
             (colours->white_point != JXL_WHITE_POINT_D65 &&
              !(primaries == JXL_PRIMARIES_P3 && colours->white_point == JXL_WHITE_POINT_DCI)))
        return;
    uint32_t transfer = (uint32_t)colours->transfer_function;
    // Such files were converted from PNG files whose gAMA of 1 / 2.2 meant sRGB.
    if (transfer == JXL_TRANSFER_FUNCTION_GAMMA && fabs(colours->gamma * 2.2 - 1) < 0.005)
        transfer = JXL_TRANSFER_FUNCTION_SRGB;
    if (transfer == JXL_TRANSFER_FUNCTION_GAMMA || transfer == JXL_TRANSFER_FUNCTION_UNKNOWN) return;
    info->primaries = primaries;
    info->transfer = transfer;
}

uint8_t *wi_jxl_read_profile(JxlDecoder *decoder, wi_jxl_info *info) {
    const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlColorEncoding colours;
    size_t size = 0;
    info->icc_count = 0;
    if (JxlDecoderGetColorAsEncodedProfile(decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA, &colours) ==
        JXL_DEC_SUCCESS) {
        read_code_points(&colours, info);
        if (is_srgb(&colours)) return NULL;
    }
    if (JxlDecoderGetICCProfileSize(decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA, &size) != JXL_DEC_SUCCESS ||
        !size || size > MAX_PROFILE)
        return NULL;
    uint8_t *profile = malloc(size);
    if (!profile) return NULL;
    if (JxlDecoderGetColorAsICCProfile(decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA, profile, size) !=
        JXL_DEC_SUCCESS) {
        free(profile);
        return NULL;
    }
    info->icc_count = size;
    return profile;
}
#endif
