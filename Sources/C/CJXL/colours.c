// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "colours.h"
#include <stdlib.h>

#define MAX_PROFILE (4u << 20)

void wi_jxl_choose_colours(JxlDecoder *decoder) {
    const JxlColorEncoding srgb = {
        .color_space = JXL_COLOR_SPACE_RGB, .white_point = JXL_WHITE_POINT_D65, .primaries = JXL_PRIMARIES_SRGB,
        .transfer_function = JXL_TRANSFER_FUNCTION_SRGB, .rendering_intent = JXL_RENDERING_INTENT_RELATIVE};
    JxlBasicInfo info;
    if (JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS || info.uses_original_profile) return;
    JxlColorEncoding wanted = srgb;
    if (info.num_color_channels == 1) wanted.color_space = JXL_COLOR_SPACE_GRAY;
    (void)JxlDecoderSetPreferredColorProfile(decoder, &wanted);
}

static int is_srgb(const JxlColorEncoding *colours) {
    return (colours->color_space == JXL_COLOR_SPACE_RGB ? colours->primaries == JXL_PRIMARIES_SRGB
                                                        : colours->color_space == JXL_COLOR_SPACE_GRAY) &&
           colours->white_point == JXL_WHITE_POINT_D65 && colours->transfer_function == JXL_TRANSFER_FUNCTION_SRGB;
}

uint8_t *wi_jxl_read_profile(JxlDecoder *decoder, size_t *count) {
    const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlColorEncoding colours;
    size_t size = 0;
    *count = 0;
    if (JxlDecoderGetColorAsEncodedProfile(decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA, &colours) ==
            JXL_DEC_SUCCESS &&
        is_srgb(&colours))
        return NULL;
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
    *count = size;
    return profile;
}
#endif
