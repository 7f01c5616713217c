// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <jxl/decode.h>
#include <stdlib.h>
#include "CJXL.h"
#include "library.h"
#include "colours.h"
#include "layers.h"
#include "memory.h"

struct wi_jxl_decoder {
    JxlDecoder *decoder;
    const uint8_t *data;
    size_t count;
    wi_jxl_budget budget;
    wi_jxl_space space;
    wi_jxl_info info;
    /// The part of the data that libjxl has received and consumed. libjxl receives a frame in pieces.
    size_t received, consumed;
    /// The index of the frame that is decoded next, or UINT32_MAX if the decoder must restart.
    uint32_t next;
    /// The index of the frame that wi_jxl_frame_begin selected.
    uint32_t wanted;
    /// Nonzero from the selection of a frame to its end, so that libjxl never continues with another frame.
    int is_selected;
    /// The threads, or NULL if the calling thread decodes.
    void *threads;
};

/// The number of bytes that libjxl processes between two checks of the deadline and the cancellation flag.
enum { PIECE = 128 << 10 };

static const int HEADER = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING;

static wi_jxl_status failure(const wi_jxl_decoder *own) {
    return own->budget.has_refused ? WI_JXL_MEMORY : WI_JXL_CORRUPT;
}

static int restart(wi_jxl_decoder *own, int events, size_t piece) {
    own->is_selected = 0;
    libjxl.JxlDecoderReset(own->decoder);
    own->consumed = 0;
    own->received = piece < own->count ? piece : own->count;
    // A reset removes the threads from the decoder.
    if (own->threads && libjxl.JxlDecoderSetParallelRunner(own->decoder, libjxl_threads.JxlThreadParallelRunner,
                                                           own->threads) != JXL_DEC_SUCCESS)
        return 0;
    return libjxl.JxlDecoderSubscribeEvents(own->decoder, events) == JXL_DEC_SUCCESS &&
           libjxl.JxlDecoderSetKeepOrientation(own->decoder, JXL_TRUE) == JXL_DEC_SUCCESS &&
           libjxl.JxlDecoderSetInput(own->decoder, own->data, own->received) == JXL_DEC_SUCCESS;
}

/// Passes the next piece of the data to libjxl. Returns WI_JXL_TRUNCATED at the end of the data.
static wi_jxl_status advance(wi_jxl_decoder *own) {
    if (own->received == own->count) return WI_JXL_TRUNCATED;
    size_t left = libjxl.JxlDecoderReleaseInput(own->decoder);
    if (left > own->received - own->consumed) return WI_JXL_CORRUPT;
    own->consumed = own->received - left;
    own->received += own->count - own->received < PIECE ? own->count - own->received : PIECE;
    const uint8_t *data = own->data + own->consumed;
    if (libjxl.JxlDecoderSetInput(own->decoder, data, own->received - own->consumed) != JXL_DEC_SUCCESS)
        return failure(own);
    return WI_JXL_MORE;
}

static wi_jxl_status read_info(wi_jxl_decoder *own) {
    wi_jxl_info *info = &own->info;
    JxlBasicInfo basic;
    if (libjxl.JxlDecoderGetBasicInfo(own->decoder, &basic) != JXL_DEC_SUCCESS) return failure(own);
    if (basic.num_extra_channels > WI_JXL_MAX_CHANNELS) return WI_JXL_CHANNELS;
    info->width = basic.xsize;
    info->height = basic.ysize;
    info->depth = basic.bits_per_sample;
    info->has_alpha = basic.alpha_bits > 0;
    info->is_gray = basic.num_color_channels == 1;
    info->is_premultiplied = basic.alpha_premultiplied;
    info->is_animated = basic.have_animation;
    info->orientation = (uint32_t)basic.orientation;
    info->loops = basic.have_animation ? basic.animation.num_loops : 1;
    info->ticks_per_second = 0;
    if (basic.have_animation && basic.animation.tps_denominator)
        info->ticks_per_second = (double)basic.animation.tps_numerator / basic.animation.tps_denominator;
    return WI_JXL_OK;
}

wi_jxl_status wi_jxl_open(const uint8_t *data, size_t count, size_t max_bytes, wi_jxl_space space, wi_jxl_info *info,
                          wi_jxl_decoder **result) {
    wi_jxl_decoder *own = calloc(1, sizeof *own);
    if (!own) return WI_JXL_MEMORY;
    *result = own;
    own->data = data;
    own->count = count;
    own->budget.limit = max_bytes;
    own->next = UINT32_MAX;
    own->space = space;
    JxlMemoryManager manager = wi_jxl_manager(&own->budget);
    own->decoder = libjxl.JxlDecoderCreate(&manager);
    if (!own->decoder) return WI_JXL_MEMORY;
    if (!restart(own, HEADER, SIZE_MAX)) return failure(own);
    wi_jxl_status status = WI_JXL_CORRUPT;
    for (;;) {
        switch (libjxl.JxlDecoderProcessInput(own->decoder)) {
        case JXL_DEC_BASIC_INFO:
            status = read_info(own);
            *info = own->info;
            if (status != WI_JXL_OK) return status;
            break;
        case JXL_DEC_COLOR_ENCODING:
            wi_jxl_choose_colours(own->decoder, own->space);
            wi_jxl_read_colours(own->decoder, &own->info);
            *info = own->info;
            return WI_JXL_OK;
        case JXL_DEC_NEED_MORE_INPUT:
            return WI_JXL_TRUNCATED;
        case JXL_DEC_SUCCESS:
            return status;
        default:
            return failure(own);
        }
    }
}

void wi_jxl_close(wi_jxl_decoder *own) {
    if (!own) return;
    if (own->decoder) libjxl.JxlDecoderDestroy(own->decoder);
    if (own->threads) libjxl_threads.JxlThreadParallelRunnerDestroy(own->threads);
    wi_jxl_free_colours(&own->info);
    free(own);
}

void wi_jxl_use_threads(wi_jxl_decoder *own, size_t threads) {
    if (own->threads || threads < 2 || !wi_jxl_load_threads()) return;
    own->threads = libjxl_threads.JxlThreadParallelRunnerCreate(NULL, threads);
    // The next frame restarts the decoder, which adds the threads to it.
    own->next = UINT32_MAX;
    own->is_selected = 0;
}

wi_jxl_status wi_jxl_index(wi_jxl_decoder *own, uint32_t *ticks, uint32_t room, uint32_t *frames) {
    *frames = 0;
    own->next = UINT32_MAX;
    if (!restart(own, JXL_DEC_FRAME, SIZE_MAX)) return failure(own);
    for (;;) {
        JxlFrameHeader header;
        switch (libjxl.JxlDecoderProcessInput(own->decoder)) {
        case JXL_DEC_FRAME:
            if (libjxl.JxlDecoderGetFrameHeader(own->decoder, &header) != JXL_DEC_SUCCESS) return failure(own);
            if (*frames < room) ticks[*frames] = header.duration;
            *frames += 1;
            if (*frames > room) return WI_JXL_OK;
            break;
        case JXL_DEC_SUCCESS:
            return WI_JXL_OK;
        case JXL_DEC_NEED_MORE_INPUT:
            return WI_JXL_TRUNCATED;
        default:
            return failure(own);
        }
    }
}

wi_jxl_status wi_jxl_check_layer(JxlDecoder *decoder, uint32_t number, wi_jxl_layer_limits limits, uint32_t size[2]) {
    JxlFrameHeader header;
    if (number > limits.count) return WI_JXL_LAYERS;
    if (libjxl.JxlDecoderGetFrameHeader(decoder, &header) != JXL_DEC_SUCCESS) return WI_JXL_CORRUPT;
    size[0] = header.layer_info.xsize;
    size[1] = header.layer_info.ysize;
    const int is_small = size[0] <= limits.side && size[1] <= limits.side && (uint64_t)size[0] * size[1] <= limits.area;
    return is_small ? WI_JXL_OK : WI_JXL_LAYER_SIZE;
}

wi_jxl_status wi_jxl_check_layers(wi_jxl_decoder *own, wi_jxl_layer_limits limits, uint32_t size[2]) {
    uint32_t layers = 0;
    own->next = UINT32_MAX;
    if (!restart(own, JXL_DEC_FRAME, SIZE_MAX) ||
        libjxl.JxlDecoderSetCoalescing(own->decoder, JXL_FALSE) != JXL_DEC_SUCCESS)
        return failure(own);
    for (;;) {
        switch (libjxl.JxlDecoderProcessInput(own->decoder)) {
        case JXL_DEC_FRAME: {
            wi_jxl_status status = wi_jxl_check_layer(own->decoder, ++layers, limits, size);
            if (status != WI_JXL_OK) return status;
            break;
        }
        default:
            // Errors and missing data are reported when a frame is decoded.
            return WI_JXL_OK;
        }
    }
}

static int seek(wi_jxl_decoder *own, uint32_t index) {
    if (own->next == UINT32_MAX || index < own->next) {
        if (!restart(own, HEADER | JXL_DEC_FULL_IMAGE, PIECE)) return 0;
        own->next = 0;
    }
    if (index > own->next) libjxl.JxlDecoderSkipFrames(own->decoder, index - own->next);
    // Until this frame is complete, the position is unknown.
    own->next = UINT32_MAX;
    return 1;
}

wi_jxl_status wi_jxl_frame_begin(wi_jxl_decoder *own, uint32_t index) {
    own->wanted = index;
    own->is_selected = seek(own, index);
    return own->is_selected ? WI_JXL_OK : failure(own);
}

wi_jxl_status wi_jxl_frame(wi_jxl_decoder *own, int allows_partial, int bits, void *out, size_t stride,
                           size_t alignment, int *is_drawn) {
    const JxlPixelFormat format = {4, bits == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, alignment};
    size_t room = 0;
    if (!own->is_selected || __builtin_mul_overflow(stride, (size_t)own->info.height, &room)) return WI_JXL_INCONSISTENT;
    for (;;) {
        size_t size = 0;
        JxlBasicInfo basic;
        switch (libjxl.JxlDecoderProcessInput(own->decoder)) {
        case JXL_DEC_BASIC_INFO:
            if (libjxl.JxlDecoderGetBasicInfo(own->decoder, &basic) != JXL_DEC_SUCCESS) return failure(own);
            if (basic.xsize != own->info.width || basic.ysize != own->info.height) return WI_JXL_INCONSISTENT;
            break;
        case JXL_DEC_COLOR_ENCODING:
            wi_jxl_choose_colours(own->decoder, own->space);
            break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (libjxl.JxlDecoderImageOutBufferSize(own->decoder, &format, &size) != JXL_DEC_SUCCESS) return failure(own);
            if (size > room || stride / (bits == 16 ? 8 : 4) < own->info.width) return WI_JXL_INCONSISTENT;
            if (libjxl.JxlDecoderSetImageOutBuffer(own->decoder, &format, out, size) != JXL_DEC_SUCCESS) return failure(own);
            *is_drawn = 1;
            break;
        case JXL_DEC_FULL_IMAGE:
            own->next = own->wanted + 1;
            own->is_selected = 0;
            return WI_JXL_OK;
        case JXL_DEC_NEED_MORE_INPUT:
            switch (advance(own)) {
            case WI_JXL_MORE:
                return WI_JXL_MORE;
            case WI_JXL_TRUNCATED:
                break;
            default:
                return failure(own);
            }
            *is_drawn = *is_drawn && allows_partial && libjxl.JxlDecoderFlushImage(own->decoder) == JXL_DEC_SUCCESS;
            return WI_JXL_TRUNCATED;
        case JXL_DEC_SUCCESS:
            return WI_JXL_END;
        default:
            return failure(own);
        }
    }
}

uint32_t wi_jxl_version(void) { return libjxl.JxlDecoderVersion(); }
#endif
