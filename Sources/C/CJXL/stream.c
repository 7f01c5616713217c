// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <stdlib.h>
#include <string.h>
#include "CJXL.h"
#include "library.h"
#include "colours.h"
#include "layers.h"
#include "memory.h"

/// A decoder with the data that it hasn't consumed yet.
typedef struct {
    JxlDecoder *decoder;
    uint8_t *pending;
    size_t count, capacity;
} source;

struct wi_jxl_stream {
    source image;
    /// A decoder that reads only the headers of the layers. The other one combines the layers, so it doesn't report their
    /// sizes. The decoder is closed after the first image.
    source headers;
    wi_jxl_layer_limits limits;
    uint32_t layers, layer[2];
    wi_jxl_budget budget;
    uint8_t *out;
    size_t stride, alignment;
    uint32_t width, height;
    wi_jxl_info info;
    int steps;
    int has_buffer, is_whole;
};

static void close_source(source *own) {
    if (own->decoder) libjxl.JxlDecoderDestroy(own->decoder);
    free(own->pending);
    *own = (source){0};
}

wi_jxl_stream *wi_jxl_stream_open(uint8_t *out, size_t stride, size_t alignment, uint32_t width, uint32_t height,
                                  size_t max_bytes, wi_jxl_layer_limits limits) {
    wi_jxl_stream *own = calloc(1, sizeof *own);
    if (!own) return NULL;
    own->out = out;
    own->stride = stride;
    own->alignment = alignment;
    own->width = width;
    own->height = height;
    own->limits = limits;
    own->budget.limit = max_bytes;
    JxlMemoryManager manager = wi_jxl_manager(&own->budget);
    JxlDecoder *decoder = own->image.decoder = libjxl.JxlDecoderCreate(&manager);
    JxlDecoder *headers = own->headers.decoder = libjxl.JxlDecoderCreate(&manager);
    const int events = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FRAME_PROGRESSION | JXL_DEC_FULL_IMAGE;
    if (!decoder || !headers || libjxl.JxlDecoderSubscribeEvents(decoder, events) != JXL_DEC_SUCCESS ||
        libjxl.JxlDecoderSetKeepOrientation(decoder, JXL_TRUE) != JXL_DEC_SUCCESS ||
        libjxl.JxlDecoderSetProgressiveDetail(decoder, kPasses) != JXL_DEC_SUCCESS ||
        libjxl.JxlDecoderSubscribeEvents(headers, JXL_DEC_FRAME) != JXL_DEC_SUCCESS ||
        libjxl.JxlDecoderSetCoalescing(headers, JXL_FALSE) != JXL_DEC_SUCCESS) {
        wi_jxl_stream_close(own);
        return NULL;
    }
    return own;
}

void wi_jxl_stream_close(wi_jxl_stream *own) {
    if (!own) return;
    close_source(&own->image);
    close_source(&own->headers);
    wi_jxl_free_colours(&own->info);
    free(own);
}

static wi_jxl_status failure(const wi_jxl_stream *own) {
    return own->budget.has_refused ? WI_JXL_MEMORY : WI_JXL_CORRUPT;
}

static wi_jxl_status read_info(wi_jxl_stream *own) {
    JxlBasicInfo basic;
    if (libjxl.JxlDecoderGetBasicInfo(own->image.decoder, &basic) != JXL_DEC_SUCCESS) return failure(own);
    if (basic.num_extra_channels > WI_JXL_MAX_CHANNELS) return WI_JXL_CHANNELS;
    if (basic.xsize != own->width || basic.ysize != own->height) return WI_JXL_INCONSISTENT;
    own->info.width = basic.xsize;
    own->info.height = basic.ysize;
    own->info.depth = basic.bits_per_sample;
    own->info.has_alpha = basic.alpha_bits > 0;
    own->info.is_gray = basic.num_color_channels == 1;
    own->info.is_premultiplied = basic.alpha_premultiplied;
    return WI_JXL_OK;
}

static wi_jxl_status set_buffer(wi_jxl_stream *own) {
    const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, own->alignment};
    size_t size = 0;
    if (libjxl.JxlDecoderImageOutBufferSize(own->image.decoder, &format, &size) != JXL_DEC_SUCCESS) return failure(own);
    size_t room = 0;
    if (!own->info.width || __builtin_mul_overflow(own->stride, (size_t)own->height, &room) || size > room ||
        own->stride / 4 < own->width)
        return WI_JXL_INCONSISTENT;
    if (libjxl.JxlDecoderSetImageOutBuffer(own->image.decoder, &format, own->out, size) != JXL_DEC_SUCCESS) return failure(own);
    own->has_buffer = 1;
    return WI_JXL_OK;
}

/// Lets libjxl process the available data. Returns WI_JXL_TRUNCATED if more data is needed.
static wi_jxl_status process(wi_jxl_stream *own) {
    wi_jxl_status status = WI_JXL_OK;
    while (status == WI_JXL_OK) {
        switch (libjxl.JxlDecoderProcessInput(own->image.decoder)) {
        case JXL_DEC_BASIC_INFO:
            status = read_info(own);
            break;
        case JXL_DEC_COLOR_ENCODING:
            wi_jxl_choose_colours(own->image.decoder, WI_JXL_SRGB);
            wi_jxl_read_colours(own->image.decoder, &own->info);
            break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            status = set_buffer(own);
            break;
        case JXL_DEC_FRAME_PROGRESSION:
            own->steps++;
            break;
        case JXL_DEC_FULL_IMAGE:
            own->is_whole = 1;
            return WI_JXL_OK;
        case JXL_DEC_NEED_MORE_INPUT:
            return WI_JXL_TRUNCATED;
        case JXL_DEC_SUCCESS:
            return own->is_whole ? WI_JXL_OK : WI_JXL_CORRUPT;
        default:
            return failure(own);
        }
    }
    return status;
}

/// Checks the headers of the layers in the available data.
static wi_jxl_status process_headers(wi_jxl_stream *own) {
    for (;;) {
        switch (libjxl.JxlDecoderProcessInput(own->headers.decoder)) {
        case JXL_DEC_FRAME: {
            own->layers++;
            wi_jxl_status status = wi_jxl_check_layer(own->headers.decoder, own->layers, own->limits, own->layer);
            if (status != WI_JXL_OK) return status;
            break;
        }
        default:
            // The other decoder reports errors and missing data.
            return WI_JXL_OK;
        }
    }
}

static int keep(source *own, const uint8_t *bytes, size_t count) {
    if (count > own->capacity - own->count) {
        size_t capacity = 0;
        if (__builtin_add_overflow(own->count, count, &capacity)) return 0;
        uint8_t *larger = realloc(own->pending, capacity);
        if (!larger) return 0;
        own->pending = larger;
        own->capacity = capacity;
    }
    if (count) memcpy(own->pending + own->count, bytes, count);
    own->count += count;
    return 1;
}

static wi_jxl_status feed(wi_jxl_stream *own, source *source, const uint8_t *bytes, size_t count, int is_last,
                          wi_jxl_status (*process)(wi_jxl_stream *)) {
    JxlDecoder *decoder = source->decoder;
    if (!keep(source, bytes, count)) return WI_JXL_MEMORY;
    if (source->count && libjxl.JxlDecoderSetInput(decoder, source->pending, source->count) != JXL_DEC_SUCCESS)
        return failure(own);
    if (is_last) libjxl.JxlDecoderCloseInput(decoder);
    wi_jxl_status status = process(own);
    size_t left = source->count ? libjxl.JxlDecoderReleaseInput(decoder) : 0;
    if (left) memmove(source->pending, source->pending + source->count - left, left);
    source->count = left;
    return status;
}

wi_jxl_status wi_jxl_stream_feed(wi_jxl_stream *own, const uint8_t *bytes, size_t count, int is_last) {
    if (own->is_whole) return WI_JXL_OK;
    wi_jxl_status status = feed(own, &own->headers, bytes, count, is_last, process_headers);
    if (status == WI_JXL_OK) status = feed(own, &own->image, bytes, count, is_last, process);
    if (own->is_whole) close_source(&own->headers);
    return status;
}

void wi_jxl_stream_layer(const wi_jxl_stream *own, uint32_t size[2]) {
    size[0] = own->layer[0];
    size[1] = own->layer[1];
}

int wi_jxl_stream_draw(wi_jxl_stream *own) {
    if (own->is_whole) return 1;
    // For files in VarDCT mode, libjxl fails until it has decoded the image at one eighth of its size. Files in modular
    // mode report no passes, but libjxl draws the groups or the squeeze steps that it has decoded.
    return own->has_buffer && libjxl.JxlDecoderFlushImage(own->image.decoder) == JXL_DEC_SUCCESS;
}

int wi_jxl_stream_is_whole(const wi_jxl_stream *own) { return own->is_whole; }

int wi_jxl_stream_steps(const wi_jxl_stream *own) { return own->steps; }

int wi_jxl_stream_reduction(const wi_jxl_stream *own) {
    return own->is_whole ? 1 : (int)libjxl.JxlDecoderGetIntendedDownsamplingRatio(own->image.decoder);
}

void wi_jxl_stream_info(const wi_jxl_stream *own, wi_jxl_info *info) { *info = own->info; }
#endif
