// SPDX-License-Identifier: MIT
#include "profile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Renames the floating-point tables (D2B0 to D2B3) so that Little CMS ignores them. They have no limit on their
/// stages and segments, and other applications read the other tags.
static void hide_float_tables(uint8_t *bytes, size_t count) {
    uint32_t tags = number(bytes + 128);
    for (size_t place = 132; tags > 0 && place + 12 <= count; tags--, place += 12)
        if (!memcmp(bytes + place, "D2B", 3)) bytes[place] = 'x';
}

int wi_icc_has_float_tables(const uint8_t *bytes, size_t count) {
    if (count < 132) return 0;
    uint32_t tags = number(bytes + 128);
    for (size_t place = 132; tags > 0 && place + 12 <= count; tags--, place += 12)
        if (!memcmp(bytes + place, "D2B", 3)) return 1;
    return 0;
}

static int is_of_a_device(cmsHPROFILE profile) {
    switch (cmsGetDeviceClass(profile)) {
    case cmsSigInputClass:
    case cmsSigDisplayClass:
    case cmsSigOutputClass:
    case cmsSigColorSpaceClass:
        break;
    default:
        return 0;
    }
    cmsColorSpaceSignature connection = cmsGetPCS(profile);
    if (connection != cmsSigXYZData && connection != cmsSigLabData) return 0;
    cmsColorSpaceSignature space = cmsGetColorSpace(profile);
    return space == cmsSigGrayData || space == cmsSigRgbData || space == cmsSigCmykData;
}

wi_icc_profile *wi_icc_open(const uint8_t *bytes, size_t count) {
    if (count < 132 || count > UINT32_MAX || memcmp(bytes + 36, "acsp", 4)) return NULL;
    wi_icc_profile *own = calloc(1, sizeof *own);
    uint8_t *copy = malloc(count);
    if (own && copy) {
        memcpy(copy, bytes, count);
        hide_float_tables(copy, count);
        own->context = wi_color_context();
        if (own->context) own->profile = cmsOpenProfileFromMemTHR(own->context, copy, (cmsUInt32Number)count);
    }
    free(copy);
    if (own && own->profile && is_of_a_device(own->profile)) return own;
    wi_icc_close(own);
    return NULL;
}

void wi_icc_close(wi_icc_profile *own) {
    if (!own) return;
    if (own->profile) cmsCloseProfile(own->profile);
    if (own->context) cmsDeleteContext(own->context);
    free(own);
}

wi_icc_space wi_icc_space_of(const wi_icc_profile *own) {
    switch (cmsGetColorSpace(own->profile)) {
    case cmsSigGrayData:
        return WI_ICC_GRAY;
    case cmsSigCmykData:
        return WI_ICC_CMYK;
    default:
        return WI_ICC_RGB;
    }
}

int wi_icc_has_tables(const wi_icc_profile *own) { return cmsIsTag(own->profile, cmsSigAToB0Tag); }

int wi_icc_colorants(const wi_icc_profile *own, double matrix[9]) {
    static const cmsTagSignature names[3] = {cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag};
    if (cmsGetPCS(own->profile) != cmsSigXYZData) return 0;
    for (int channel = 0; channel < 3; channel++) {
        const cmsCIEXYZ *colorant = cmsReadTag(own->profile, names[channel]);
        if (!colorant || !isfinite(colorant->X) || !isfinite(colorant->Y) || !isfinite(colorant->Z)) return 0;
        matrix[channel] = colorant->X;
        matrix[channel + 3] = colorant->Y;
        matrix[channel + 6] = colorant->Z;
    }
    return 1;
}

int wi_icc_curve(const wi_icc_profile *own, int channel, float *out, size_t count) {
    static const cmsTagSignature names[3] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    int is_gray = wi_icc_space_of(own) == WI_ICC_GRAY;
    const cmsToneCurve *curve = cmsReadTag(own->profile, is_gray ? cmsSigGrayTRCTag : names[channel % 3]);
    if (!curve || count < 2) return 0;
    // If the connection space is Lab, a gray curve produces lightness. Apply the inverse of the CIE 15 formula.
    int is_lightness = is_gray && cmsGetPCS(own->profile) == cmsSigLabData;
    for (size_t index = 0; index < count; index++) {
        float light = cmsEvalToneCurveFloat(curve, (float)index / (float)(count - 1));
        if (is_lightness) {
            float f = (light * 100 + 16) / 116;
            light = f > 6.0f / 29 ? f * f * f : light * 100 * 27 / 24389;
        }
        out[index] = !(light > 0) ? 0 : light > 1 ? 1 : light;
    }
    return 1;
}
