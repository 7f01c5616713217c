// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <stdlib.h>
#include <string.h>
#include "CJXL.h"
#include "library.h"
#include "colours.h"
#include "memory.h"

struct wi_jxl_stream {
    JxlDecoder *decoder;
    wi_jxl_budget budget;
    uint8_t *out;
    size_t stride, alignment;
    uint32_t width, height;
    /// The data that libjxl hasn't consumed yet.
    uint8_t *pending;
    size_t pending_count, pending_capacity;
    wi_jxl_info info;
    int steps;
    int has_buffer, is_whole;
};

wi_jxl_stream *wi_jxl_stream_open(uint8_t *out, size_t stride, size_t alignment, uint32_t width, uint32_t height,
                                  size_t max_bytes) {
    wi_jxl_stream *own = calloc(1, sizeof *own);
    if (!own) return NULL;
    own->out = out;
    own->stride = stride;
    own->alignment = alignment;
    own->width = width;
    own->height = height;
    own->budget.limit = max_bytes;
    JxlMemoryManager manager = wi_jxl_manager(&own->budget);
    own->decoder = libjxl.JxlDecoderCreate(&manager);
    const int events = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FRAME_PROGRESSION | JXL_DEC_FULL_IMAGE;
    if (!own->decoder || libjxl.JxlDecoderSubscribeEvents(own->decoder, events) != JXL_DEC_SUCCESS ||
        libjxl.JxlDecoderSetKeepOrientation(own->decoder, JXL_TRUE) != JXL_DEC_SUCCESS ||
        libjxl.JxlDecoderSetProgressiveDetail(own->decoder, kPasses) != JXL_DEC_SUCCESS) {
        wi_jxl_stream_close(own);
        return NULL;
    }
    return own;
}

void wi_jxl_stream_close(wi_jxl_stream *own) {
    if (!own) return;
    if (own->decoder) libjxl.JxlDecoderDestroy(own->decoder);
    free(own->pending);
    wi_jxl_free_colours(&own->info);
    free(own);
}

static wi_jxl_status failure(const wi_jxl_stream *own) {
    return own->budget.has_refused ? WI_JXL_MEMORY : WI_JXL_CORRUPT;
}

static wi_jxl_status read_info(wi_jxl_stream *own) {
    JxlBasicInfo basic;
    if (libjxl.JxlDecoderGetBasicInfo(own->decoder, &basic) != JXL_DEC_SUCCESS) return failure(own);
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
    if (libjxl.JxlDecoderImageOutBufferSize(own->decoder, &format, &size) != JXL_DEC_SUCCESS) return failure(own);
    size_t room = 0;
    if (!own->info.width || __builtin_mul_overflow(own->stride, (size_t)own->height, &room) || size > room ||
        own->stride / 4 < own->width)
        return WI_JXL_INCONSISTENT;
    if (libjxl.JxlDecoderSetImageOutBuffer(own->decoder, &format, own->out, size) != JXL_DEC_SUCCESS) return failure(own);
    own->has_buffer = 1;
    return WI_JXL_OK;
}

/// Lets libjxl process the available data. Returns WI_JXL_TRUNCATED if more data is needed.
static wi_jxl_status process(wi_jxl_stream *own) {
    wi_jxl_status status = WI_JXL_OK;
    while (status == WI_JXL_OK) {
        switch (libjxl.JxlDecoderProcessInput(own->decoder)) {
        case JXL_DEC_BASIC_INFO:
            status = read_info(own);
            break;
        case JXL_DEC_COLOR_ENCODING:
            wi_jxl_choose_colours(own->decoder, WI_JXL_SRGB);
            wi_jxl_read_colours(own->decoder, &own->info);
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

static int keep(wi_jxl_stream *own, const uint8_t *bytes, size_t count) {
    if (count > own->pending_capacity - own->pending_count) {
        size_t capacity = 0;
        if (__builtin_add_overflow(own->pending_count, count, &capacity)) return 0;
        uint8_t *larger = realloc(own->pending, capacity);
        if (!larger) return 0;
        own->pending = larger;
        own->pending_capacity = capacity;
    }
    if (count) memcpy(own->pending + own->pending_count, bytes, count);
    own->pending_count += count;
    return 1;
}

wi_jxl_status wi_jxl_stream_feed(wi_jxl_stream *own, const uint8_t *bytes, size_t count, int is_last) {
    if (own->is_whole) return WI_JXL_OK;
    if (!keep(own, bytes, count)) return WI_JXL_MEMORY;
    if (own->pending_count && libjxl.JxlDecoderSetInput(own->decoder, own->pending, own->pending_count) != JXL_DEC_SUCCESS)
        return failure(own);
    if (is_last) libjxl.JxlDecoderCloseInput(own->decoder);
    wi_jxl_status status = process(own);
    size_t left = own->pending_count ? libjxl.JxlDecoderReleaseInput(own->decoder) : 0;
    if (left) memmove(own->pending, own->pending + own->pending_count - left, left);
    own->pending_count = left;
    return status;
}

int wi_jxl_stream_draw(wi_jxl_stream *own) {
    if (own->is_whole) return 1;
    // For files in VarDCT mode, libjxl fails until it has decoded the image at one eighth of its size. Files in modular
    // mode report no passes, but libjxl draws the groups or the squeeze steps that it has decoded.
    return own->has_buffer && libjxl.JxlDecoderFlushImage(own->decoder) == JXL_DEC_SUCCESS;
}

int wi_jxl_stream_is_whole(const wi_jxl_stream *own) { return own->is_whole; }

int wi_jxl_stream_steps(const wi_jxl_stream *own) { return own->steps; }

int wi_jxl_stream_reduction(const wi_jxl_stream *own) {
    return own->is_whole ? 1 : (int)libjxl.JxlDecoderGetIntendedDownsamplingRatio(own->decoder);
}

void wi_jxl_stream_info(const wi_jxl_stream *own, wi_jxl_info *info) { *info = own->info; }
#endif
