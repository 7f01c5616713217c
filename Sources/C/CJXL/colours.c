// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "colours.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "library.h"

#define MAX_PROFILE (4u << 20)

static int is_hdr(const JxlColorEncoding *colours) {
    return colours->transfer_function == JXL_TRANSFER_FUNCTION_PQ ||
           colours->transfer_function == JXL_TRANSFER_FUNCTION_HLG;
}

static JxlColorEncoding rgb(JxlPrimaries primaries) {
    const JxlColorEncoding encoding = {
        .color_space = JXL_COLOR_SPACE_RGB, .white_point = JXL_WHITE_POINT_D65, .primaries = primaries,
        .transfer_function = JXL_TRANSFER_FUNCTION_SRGB, .rendering_intent = JXL_RENDERING_INTENT_RELATIVE};
    return encoding;
}

void wi_jxl_choose_colours(JxlDecoder *decoder, wi_jxl_space space) {
    JxlBasicInfo info;
    if (libjxl.JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS || info.uses_original_profile) return;
    const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlColorEncoding wanted = rgb(space == WI_JXL_SRGB         ? JXL_PRIMARIES_SRGB
                                  : space == WI_JXL_DISPLAY_P3 ? JXL_PRIMARIES_P3
                                                               : JXL_PRIMARIES_2100);
    JxlColorEncoding original;
    if (libjxl.JxlDecoderGetColorAsEncodedProfile(decoder, &format, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &original) ==
            JXL_DEC_SUCCESS &&
        (space == WI_JXL_ORIGINAL || is_hdr(&original)))
        wanted = original;
    if (info.num_color_channels == 1) {
        if (wanted.color_space != JXL_COLOR_SPACE_GRAY) wanted.primaries = JXL_PRIMARIES_SRGB;
        wanted.color_space = JXL_COLOR_SPACE_GRAY;
    }
    (void)libjxl.JxlDecoderSetPreferredColorProfile(decoder, &wanted);
}

JxlColorEncoding wi_jxl_encoding(const wi_jxl_colors *colors) {
    JxlColorEncoding encoding = rgb(JXL_PRIMARIES_SRGB);
    if (!colors) return encoding;
    const double *xy = colors->chromaticities;
    static const struct {
        JxlPrimaries primaries;
        double xy[6];
    } known[] = {{JXL_PRIMARIES_SRGB, {0.64, 0.33, 0.30, 0.60, 0.15, 0.06}},
                 {JXL_PRIMARIES_P3, {0.680, 0.320, 0.265, 0.690, 0.150, 0.060}},
                 {JXL_PRIMARIES_2100, {0.708, 0.292, 0.170, 0.797, 0.131, 0.046}}};
    encoding.primaries = JXL_PRIMARIES_CUSTOM;
    for (size_t index = 0; index < sizeof known / sizeof *known; index++)
        if (!memcmp(known[index].xy, xy, sizeof known[index].xy)) encoding.primaries = known[index].primaries;
    memcpy(encoding.primaries_red_xy, xy, 2 * sizeof *xy);
    memcpy(encoding.primaries_green_xy, xy + 2, 2 * sizeof *xy);
    memcpy(encoding.primaries_blue_xy, xy + 4, 2 * sizeof *xy);
    memcpy(encoding.white_point_xy, xy + 6, 2 * sizeof *xy);
    if (fabs(xy[6] - 0.3127) > 1e-6 || fabs(xy[7] - 0.3290) > 1e-6) encoding.white_point = JXL_WHITE_POINT_CUSTOM;
    if (colors->transfer) {
        encoding.transfer_function = (JxlTransferFunction)colors->transfer;
    } else {
        encoding.transfer_function = JXL_TRANSFER_FUNCTION_GAMMA;
        encoding.gamma = 1 / colors->gamma;
    }
    return encoding;
}

static int is_srgb(const JxlColorEncoding *colours) {
    return (colours->color_space == JXL_COLOR_SPACE_RGB ? colours->primaries == JXL_PRIMARIES_SRGB
                                                        : colours->color_space == JXL_COLOR_SPACE_GRAY) &&
           colours->white_point == JXL_WHITE_POINT_D65 && colours->transfer_function == JXL_TRANSFER_FUNCTION_SRGB;
}

/// Reads the code points. The values of libjxl are those of ITU-T H.273, except for P3, for which libjxl has one value
/// and a separate white point.
static void read_code_points(const JxlColorEncoding *colours, wi_jxl_color_space *space) {
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
    space->primaries = primaries;
    space->transfer = transfer;
}

static void read_space(JxlDecoder *decoder, JxlColorProfileTarget target, wi_jxl_color_space *space) {
    const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlColorEncoding colours;
    size_t size = 0;
    if (libjxl.JxlDecoderGetColorAsEncodedProfile(decoder, &format, target, &colours) == JXL_DEC_SUCCESS) {
        read_code_points(&colours, space);
        if (is_srgb(&colours)) return;
    }
    if (libjxl.JxlDecoderGetICCProfileSize(decoder, &format, target, &size) != JXL_DEC_SUCCESS || !size || size > MAX_PROFILE)
        return;
    uint8_t *profile = malloc(size);
    if (!profile) return;
    if (libjxl.JxlDecoderGetColorAsICCProfile(decoder, &format, target, profile, size) != JXL_DEC_SUCCESS) {
        free(profile);
        return;
    }
    space->icc = profile;
    space->icc_count = size;
}

void wi_jxl_read_colours(JxlDecoder *decoder, wi_jxl_info *info) {
    wi_jxl_free_colours(info);
    read_space(decoder, JXL_COLOR_PROFILE_TARGET_DATA, &info->pixels);
    read_space(decoder, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &info->file);
}

void wi_jxl_free_colours(wi_jxl_info *info) {
    static const wi_jxl_color_space none;
    free(info->pixels.icc);
    free(info->file.icc);
    info->pixels = info->file = none;
}
#endif
