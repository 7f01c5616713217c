// SPDX-License-Identifier: MIT
#include "profile.h"
#include <stdlib.h>

struct wi_icc_transform {
    cmsHTRANSFORM transform;
};

/// Creates a profile with the primaries of Display P3 and the transfer function of sRGB.
static cmsHPROFILE display_p3(cmsContext context) {
    static const cmsCIExyY white = {0.3127, 0.3290, 1};
    static const cmsCIExyYTRIPLE primaries = {{0.680, 0.320, 1}, {0.265, 0.690, 1}, {0.150, 0.060, 1}};
    static const cmsFloat64Number srgb[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *curve = cmsBuildParametricToneCurve(context, 4, srgb);
    if (!curve) return NULL;
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsHPROFILE profile = cmsCreateRGBProfileTHR(context, &white, &primaries, curves);
    cmsFreeToneCurve(curve);
    return profile;
}

wi_icc_transform *wi_icc_transform_make(const wi_icc_profile *own, wi_icc_target target_space, int bytes_per_sample) {
    int is_ink = wi_icc_space_of(own) == WI_ICC_CMYK, is_gray = wi_icc_space_of(own) == WI_ICC_GRAY;
    if (is_ink && bytes_per_sample != 1) return NULL;
    cmsUInt32Number to = bytes_per_sample == 2 ? TYPE_RGBA_16 : TYPE_RGBA_8;
    // Gray pixels have three equal samples, of which the first one is read.
    cmsUInt32Number gray = COLORSPACE_SH(PT_GRAY) | EXTRA_SH(3) | CHANNELS_SH(1) | BYTES_SH(bytes_per_sample);
    cmsUInt32Number from = is_ink ? TYPE_CMYK_8 : is_gray ? gray : to;
    // Without the cache of the last pixel, a transform is immutable, so threads can share it. Little CMS would replace
    // the white of the tables with pure white, which separates the white of a profile with a darker paper from the colors
    // next to it. A gray table has one dimension, so more points of the grid cost nothing.
    cmsUInt32Number flags = cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOWHITEONWHITEFIXUP |
                            (is_gray ? cmsFLAGS_HIGHRESPRECALC : 0) | (is_ink || is_gray ? 0 : cmsFLAGS_COPY_ALPHA);
    wi_icc_transform *result = calloc(1, sizeof *result);
    cmsHPROFILE target = target_space == WI_ICC_DISPLAY_P3 ? display_p3(own->context)
                                                           : cmsCreate_sRGBProfileTHR(own->context);
    if (result && target)
        result->transform = cmsCreateTransformTHR(own->context, own->profile, from, target, to,
                                                  INTENT_PERCEPTUAL, flags);
    if (target) cmsCloseProfile(target);
    if (result && result->transform) return result;
    wi_icc_transform_free(result);
    return NULL;
}

int wi_icc_has_transform(const wi_icc_profile *own) {
    cmsUInt32Number from = TYPE_RGB_8;
    if (wi_icc_space_of(own) == WI_ICC_GRAY) from = TYPE_GRAY_8;
    if (wi_icc_space_of(own) == WI_ICC_CMYK) from = TYPE_CMYK_8;
    cmsHPROFILE target = cmsCreate_sRGBProfileTHR(own->context);
    if (!target) return 0;
    cmsHTRANSFORM transform = cmsCreateTransformTHR(own->context, own->profile, from, target, TYPE_RGB_8,
                                                    INTENT_PERCEPTUAL, cmsFLAGS_NOCACHE);
    cmsCloseProfile(target);
    if (!transform) return 0;
    cmsDeleteTransform(transform);
    return 1;
}

void wi_icc_transform_free(wi_icc_transform *own) {
    if (!own) return;
    if (own->transform) cmsDeleteTransform(own->transform);
    free(own);
}

void wi_icc_transform_run(const wi_icc_transform *own, const void *in, void *out, uint32_t pixels) {
    cmsDoTransform(own->transform, in, out, pixels);
}

int wi_icc_library_version(void) { return cmsGetEncodedCMMversion(); }
