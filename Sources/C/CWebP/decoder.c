// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <webp/decode.h>
#include "CWebP.h"

struct wi_webp_decoder {
    WebPDecoderConfig config;
    WebPIDecoder *incremental;
};

static wi_webp_status status_of(VP8StatusCode code) {
    switch (code) {
    case VP8_STATUS_OK:
        return WI_WEBP_OK;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return WI_WEBP_MORE;
    case VP8_STATUS_OUT_OF_MEMORY:
        return WI_WEBP_MEMORY;
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return WI_WEBP_UNSUPPORTED;
    default:
        return WI_WEBP_CORRUPT;
    }
}

wi_webp_status wi_webp_header(const uint8_t *data, size_t count, wi_webp_info *info) {
    WebPBitstreamFeatures features;
    wi_webp_status status = status_of(WebPGetFeatures(data, count, &features));
    if (status != WI_WEBP_OK) return status;
    info->width = (uint32_t)features.width;
    info->height = (uint32_t)features.height;
    info->has_alpha = features.has_alpha;
    info->is_animated = features.has_animation;
    info->is_lossless = features.format == 2;
    return WI_WEBP_OK;
}

wi_webp_decoder *wi_webp_decoder_open(uint8_t *out, size_t stride, size_t size, uint32_t width, uint32_t height,
                                      int is_scaled) {
    wi_webp_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    if (!WebPInitDecoderConfig(&decoder->config)) {
        free(decoder);
        return NULL;
    }
    decoder->config.options.use_scaling = is_scaled;
    decoder->config.options.scaled_width = (int)width;
    decoder->config.options.scaled_height = (int)height;
    decoder->config.output.colorspace = is_scaled ? MODE_rgbA : MODE_RGBA;
    decoder->config.output.is_external_memory = 1;
    decoder->config.output.u.RGBA.rgba = out;
    decoder->config.output.u.RGBA.stride = (int)stride;
    decoder->config.output.u.RGBA.size = size;
    decoder->incremental = WebPIDecode(NULL, 0, &decoder->config);
    if (!decoder->incremental) {
        free(decoder);
        return NULL;
    }
    return decoder;
}

void wi_webp_decoder_close(wi_webp_decoder *decoder) {
    if (!decoder) return;
    WebPIDelete(decoder->incremental);
    WebPFreeDecBuffer(&decoder->config.output);
    free(decoder);
}

wi_webp_status wi_webp_decoder_update(wi_webp_decoder *decoder, const uint8_t *data, size_t count) {
    return status_of(WebPIUpdate(decoder->incremental, data, count));
}

wi_webp_status wi_webp_decoder_append(wi_webp_decoder *decoder, const uint8_t *data, size_t count) {
    return status_of(WebPIAppend(decoder->incremental, data, count));
}

uint32_t wi_webp_decoder_rows(const wi_webp_decoder *decoder) {
    int rows = 0;
    if (!WebPIDecGetRGB(decoder->incremental, &rows, NULL, NULL, NULL) || rows < 0) return 0;
    return (uint32_t)rows;
}

int wi_webp_version(void) { return WebPGetDecoderVersion(); }
