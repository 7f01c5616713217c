// SPDX-License-Identifier: MIT
#include "profile.h"
#include <stdlib.h>

struct wi_icc_transform {
    cmsHTRANSFORM transform;
};

wi_icc_transform *wi_icc_transform_make(const wi_icc_profile *own, int bytes_per_sample) {
    int is_ink = wi_icc_space_of(own) == WI_ICC_CMYK;
    if (wi_icc_space_of(own) == WI_ICC_GRAY || (is_ink && bytes_per_sample != 1)) return NULL;
    cmsUInt32Number to = bytes_per_sample == 2 ? TYPE_RGBA_16 : TYPE_RGBA_8;
    // Without the cache of the last pixel, a transform is immutable, so threads can share it.
    cmsUInt32Number flags = cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION | (is_ink ? 0 : cmsFLAGS_COPY_ALPHA);
    wi_icc_transform *result = calloc(1, sizeof *result);
    cmsHPROFILE target = cmsCreate_sRGBProfileTHR(own->context);
    if (result && target)
        result->transform = cmsCreateTransformTHR(own->context, own->profile, is_ink ? TYPE_CMYK_8 : to, target, to,
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
