// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <webp/encode.h>
#include <webp/mux.h>
#include "CWebP.h"
#include "config.h"

struct wi_webp_animator {
    WebPAnimEncoder *encoder;
    WebPConfig config;
    uint32_t width;
    uint32_t height;
};

wi_webp_animator *wi_webp_animator_open(uint32_t width, uint32_t height, int loop_count,
                                        const wi_webp_options *settings) {
    if (width > WEBP_MAX_DIMENSION || height > WEBP_MAX_DIMENSION) return NULL;
    wi_webp_animator *animator = calloc(1, sizeof *animator);
    if (!animator) return NULL;
    WebPAnimEncoderOptions options;
    animator->width = width;
    animator->height = height;
    if (WebPAnimEncoderOptionsInit(&options) && wi_webp_configure(&animator->config, settings)) {
        // Insert full frames regularly, as gif2webp of libwebp does. They prevent the artifacts of lossy frames from
        // accumulating, and they let a player seek without decoding from the first frame.
        options.anim_params.loop_count = loop_count;
        options.kmin = settings->is_lossless ? 9 : 3;
        options.kmax = settings->is_lossless ? 17 : 5;
        // Let the encoder try more ways to write each frame.
        options.minimize_size = settings->effort == 9;
        animator->encoder = WebPAnimEncoderNew((int)width, (int)height, &options);
    }
    if (!animator->encoder) {
        free(animator);
        return NULL;
    }
    return animator;
}

void wi_webp_animator_close(wi_webp_animator *animator) {
    if (!animator) return;
    WebPAnimEncoderDelete(animator->encoder);
    free(animator);
}

const char *wi_webp_animator_message(const wi_webp_animator *animator) {
    return WebPAnimEncoderGetError(animator->encoder);
}

wi_webp_status wi_webp_animator_add(wi_webp_animator *animator, const uint8_t *pixels, size_t stride, int is_opaque,
                                    int timestamp) {
    WebPPicture picture;
    if (!WebPPictureInit(&picture)) return WI_WEBP_CORRUPT;
    picture.use_argb = 1;
    picture.width = (int)animator->width;
    picture.height = (int)animator->height;
    int is_imported = is_opaque ? WebPPictureImportRGBX(&picture, pixels, (int)stride)
                                : WebPPictureImportRGBA(&picture, pixels, (int)stride);
    wi_webp_status status = WI_WEBP_MEMORY;
    if (is_imported) {
        int is_added = WebPAnimEncoderAdd(animator->encoder, &picture, timestamp, &animator->config);
        status = is_added ? WI_WEBP_OK : WI_WEBP_CORRUPT;
    }
    WebPPictureFree(&picture);
    return status;
}

wi_webp_status wi_webp_animator_finish(wi_webp_animator *animator, int timestamp, uint8_t **bytes, size_t *count) {
    WebPData data;
    WebPDataInit(&data);
    if (!WebPAnimEncoderAdd(animator->encoder, NULL, timestamp, NULL)) return WI_WEBP_CORRUPT;
    if (!WebPAnimEncoderAssemble(animator->encoder, &data)) return WI_WEBP_CORRUPT;
    *bytes = (uint8_t *)data.bytes;
    *count = data.size;
    return WI_WEBP_OK;
}
