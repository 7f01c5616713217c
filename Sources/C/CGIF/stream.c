// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include "CGIF.h"

#define MAX_CODES 4096

/// The state of wi_gif_unpack between two bytes of the file.
struct wi_gif_stream {
    uint8_t *out;
    size_t pixels, at;
    /// The number of remaining bytes in the current sub-block.
    size_t block;
    uint32_t bits;
    unsigned count;
    unsigned clear, next, width;
    size_t last_start, last_length;
    int is_over;
    wi_gif_status status;
    size_t start[MAX_CODES];
    uint32_t length[MAX_CODES];
};

wi_gif_stream *wi_gif_stream_open(unsigned minimum_code_size, uint8_t *out, size_t pixels) {
    if (minimum_code_size < 1 || minimum_code_size > 11) return NULL;
    wi_gif_stream *stream = malloc(sizeof *stream);
    if (!stream) return NULL;
    stream->out = out;
    stream->pixels = pixels;
    stream->at = stream->block = stream->last_start = stream->last_length = 0;
    stream->bits = stream->count = 0;
    stream->clear = 1u << minimum_code_size;
    stream->next = stream->clear + 2;
    stream->width = minimum_code_size + 1;
    stream->is_over = 0;
    return stream;
}

void wi_gif_stream_close(wi_gif_stream *stream) { free(stream); }

static wi_gif_status end(wi_gif_stream *stream, wi_gif_status status) {
    stream->is_over = 1;
    stream->status = status;
    return status;
}

static void reset_codes(wi_gif_stream *stream) {
    unsigned width = 1;
    while ((1u << width) <= stream->clear) width++;
    stream->next = stream->clear + 2;
    stream->width = width;
    stream->last_length = 0;
}

/// Processes one code. Returns 0 if decoding is finished, with the result in `status`.
static int take(wi_gif_stream *stream, unsigned code) {
    if (code == stream->clear) {
        reset_codes(stream);
        return 1;
    }
    if (code == stream->clear + 1) return end(stream, WI_GIF_SHORT), 0;
    if (stream->last_length > 0 && stream->next < MAX_CODES) {
        stream->start[stream->next] = stream->last_start;
        stream->length[stream->next] = (uint32_t)stream->last_length + 1;
        stream->next++;
    }
    if (code >= stream->next) return end(stream, WI_GIF_CORRUPT), 0;
    size_t at = stream->at;
    size_t length = code < stream->clear ? 1 : stream->length[code];
    if (length > stream->pixels - at) length = stream->pixels - at;
    if (code < stream->clear)
        stream->out[at] = (uint8_t)code;
    else
        for (size_t i = 0, from = stream->start[code]; i < length; i++) stream->out[at + i] = stream->out[from + i];
    stream->last_start = at;
    stream->last_length = length;
    stream->at = at + length;
    if (stream->next == (1u << stream->width) && stream->width < 12) stream->width++;
    if (stream->at == stream->pixels) return end(stream, WI_GIF_OK), 0;
    return 1;
}

wi_gif_status wi_gif_stream_feed(wi_gif_stream *stream, const uint8_t *bytes, size_t count) {
    if (stream->is_over) return stream->status;
    for (size_t i = 0; i < count; i++) {
        if (stream->block == 0) {
            stream->block = bytes[i];
            if (stream->block == 0) return end(stream, WI_GIF_SHORT);
            continue;
        }
        stream->block--;
        stream->bits |= (uint32_t)bytes[i] << stream->count;
        stream->count += 8;
        while (stream->count >= stream->width) {
            unsigned code = stream->bits & ((1u << stream->width) - 1);
            stream->bits >>= stream->width;
            stream->count -= stream->width;
            if (!take(stream, code)) return stream->status;
        }
    }
    return WI_GIF_TRUNCATED;
}

size_t wi_gif_stream_done(const wi_gif_stream *stream) { return stream->at; }
