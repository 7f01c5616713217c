// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <webp/demux.h>
#include "CWebP.h"

struct wi_webp_container {
    WebPDemuxer *demuxer;
    WebPDemuxState state;
};

struct wi_webp_animation {
    WebPAnimDecoder *decoder;
};

wi_webp_container *wi_webp_container_open(const uint8_t *data, size_t count) {
    wi_webp_container *container = calloc(1, sizeof *container);
    if (!container) return NULL;
    WebPData file = {data, count};
    container->demuxer = WebPDemuxPartial(&file, &container->state);
    if (!container->demuxer) {
        free(container);
        return NULL;
    }
    return container;
}

void wi_webp_container_close(wi_webp_container *container) {
    if (!container) return;
    WebPDemuxDelete(container->demuxer);
    free(container);
}

int wi_webp_container_is_complete(const wi_webp_container *container) {
    return container->state == WEBP_DEMUX_DONE;
}

uint32_t wi_webp_container_frame_count(const wi_webp_container *container) {
    return WebPDemuxGetI(container->demuxer, WEBP_FF_FRAME_COUNT);
}

uint32_t wi_webp_container_loop_count(const wi_webp_container *container) {
    return WebPDemuxGetI(container->demuxer, WEBP_FF_LOOP_COUNT);
}

int wi_webp_container_frame(const wi_webp_container *container, uint32_t index, wi_webp_frame *frame) {
    WebPIterator place;
    if (index >= 0x7FFFFFFF || !WebPDemuxGetFrame(container->demuxer, (int)index + 1, &place)) return 0;
    frame->x = (uint32_t)place.x_offset;
    frame->y = (uint32_t)place.y_offset;
    frame->width = (uint32_t)place.width;
    frame->height = (uint32_t)place.height;
    frame->milliseconds = place.duration;
    frame->has_alpha = place.has_alpha;
    frame->is_complete = place.complete;
    frame->data = place.fragment.bytes;
    frame->count = place.fragment.size;
    WebPDemuxReleaseIterator(&place);
    return 1;
}

const uint8_t *wi_webp_container_icc(const wi_webp_container *container, size_t *count) {
    WebPChunkIterator chunk;
    const uint8_t *bytes = NULL;
    if (!(WebPDemuxGetI(container->demuxer, WEBP_FF_FORMAT_FLAGS) & ICCP_FLAG)) return NULL;
    if (!WebPDemuxGetChunk(container->demuxer, "ICCP", 1, &chunk)) return NULL;
    bytes = chunk.chunk.bytes;
    *count = chunk.chunk.size;
    WebPDemuxReleaseChunkIterator(&chunk);
    return bytes;
}

wi_webp_animation *wi_webp_animation_open(const uint8_t *data, size_t count) {
    wi_webp_animation *animation = calloc(1, sizeof *animation);
    if (!animation) return NULL;
    WebPData file = {data, count};
    WebPAnimDecoderOptions options;
    if (WebPAnimDecoderOptionsInit(&options)) {
        options.color_mode = MODE_RGBA;
        options.use_threads = 0;
        animation->decoder = WebPAnimDecoderNew(&file, &options);
    }
    if (!animation->decoder) {
        free(animation);
        return NULL;
    }
    return animation;
}

void wi_webp_animation_close(wi_webp_animation *animation) {
    if (!animation) return;
    WebPAnimDecoderDelete(animation->decoder);
    free(animation);
}

void wi_webp_animation_rewind(wi_webp_animation *animation) { WebPAnimDecoderReset(animation->decoder); }

const uint8_t *wi_webp_animation_next(wi_webp_animation *animation) {
    uint8_t *pixels = NULL;
    int timestamp = 0;
    return WebPAnimDecoderGetNext(animation->decoder, &pixels, &timestamp) ? pixels : NULL;
}
