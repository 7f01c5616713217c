// SPDX-License-Identifier: MIT
#include <webp/encode.h>
#include "CWebP.h"
#include "config.h"

typedef struct {
    wi_webp_progress progress;
    void *user;
} listener;

static int on_progress(int percent, const WebPPicture *picture) {
    const listener *to = picture->user_data;
    return to->progress(to->user, percent);
}

static wi_webp_status status_of(WebPEncodingError code) {
    switch (code) {
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
        return WI_WEBP_MEMORY;
    case VP8_ENC_ERROR_USER_ABORT:
        return WI_WEBP_STOPPED;
    case VP8_ENC_ERROR_BAD_DIMENSION:
        return WI_WEBP_UNSUPPORTED;
    default:
        return WI_WEBP_CORRUPT;
    }
}

static WebPPreset preset_of(wi_webp_preset preset) {
    switch (preset) {
    case WI_WEBP_PICTURE:
        return WEBP_PRESET_PICTURE;
    case WI_WEBP_PHOTO:
        return WEBP_PRESET_PHOTO;
    case WI_WEBP_DRAWING:
        return WEBP_PRESET_DRAWING;
    case WI_WEBP_ICON:
        return WEBP_PRESET_ICON;
    case WI_WEBP_TEXT:
        return WEBP_PRESET_TEXT;
    default:
        return WEBP_PRESET_DEFAULT;
    }
}

int wi_webp_configure(WebPConfig *config, const wi_webp_options *options) {
    WebPPreset preset = options->is_lossless ? WEBP_PRESET_DEFAULT : preset_of(options->preset);
    if (!WebPConfigPreset(config, preset, options->quality)) return 0;
    config->exact = options->is_exact;
    if (options->is_lossless) return WebPConfigLosslessPreset(config, options->effort < 0 ? 6 : options->effort);
    if (options->is_fine) {
        config->use_sharp_yuv = 1;
        config->method = 6;
        // According to SSIMULACRA2, a little more noise in detailed areas than by default has the better ratio.
        config->sns_strength = 80;
    }
    if (options->effort >= 0) config->method = options->effort * 6 / 9;
    return WebPValidateConfig(config);
}

wi_webp_status wi_webp_encode(const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              const wi_webp_options *options, wi_webp_progress progress, void *user, uint8_t **bytes,
                              size_t *count) {
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter writer;
    listener to = {progress, user};
    if (width > WEBP_MAX_DIMENSION || height > WEBP_MAX_DIMENSION) return WI_WEBP_UNSUPPORTED;
    if (!wi_webp_configure(&config, options) || !WebPPictureInit(&picture)) return WI_WEBP_CORRUPT;
    // Only WebPEncode reduces chroma so that edges keep their light, and it needs pixels that weren’t converted.
    picture.use_argb = options->is_lossless || config.use_sharp_yuv;
    picture.width = (int)width;
    picture.height = (int)height;
    int is_imported = is_opaque ? WebPPictureImportRGBX(&picture, pixels, (int)stride)
                                : WebPPictureImportRGBA(&picture, pixels, (int)stride);
    if (!is_imported) return WI_WEBP_MEMORY;
    WebPMemoryWriterInit(&writer);
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    picture.progress_hook = on_progress;
    picture.user_data = &to;
    int is_done = WebPEncode(&config, &picture);
    wi_webp_status status = is_done ? WI_WEBP_OK : status_of(picture.error_code);
    WebPPictureFree(&picture);
    if (!is_done) {
        WebPMemoryWriterClear(&writer);
        return status;
    }
    *bytes = writer.mem;
    *count = writer.size;
    return WI_WEBP_OK;
}

void wi_webp_free(uint8_t *bytes) { WebPFree(bytes); }
