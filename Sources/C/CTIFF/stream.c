// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "stream.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "library.h"

static tmsize_t on_read(thandle_t handle, void *to, tmsize_t wanted) {
    wi_tiff_stream *stream = handle;
    const uint8_t *bytes = stream->memory ? stream->memory : stream->data;
    size_t left = stream->place < stream->count ? stream->count - (size_t)stream->place : 0;
    size_t size = wanted < 0 ? 0 : (size_t)wanted;
    if (size > left) {
        size = left;
        stream->hit_end = 1;
    }
    if (size) memcpy(to, bytes + stream->place, size);
    stream->place += size;
    return (tmsize_t)size;
}

static tmsize_t on_write(thandle_t handle, void *from, tmsize_t size) {
    wi_tiff_stream *stream = handle;
    if (stream->data || size < 0 || stream->place > SIZE_MAX / 4 - (size_t)size) return 0;
    size_t end = (size_t)stream->place + (size_t)size;
    if (end > stream->room) {
        size_t room = end + end / 2 + 4096;
        uint8_t *larger = realloc(stream->memory, room);
        if (!larger) {
            stream->is_short_of_memory = 1;
            return 0;
        }
        memset(larger + stream->room, 0, room - stream->room);
        stream->memory = larger;
        stream->room = room;
    }
    memcpy(stream->memory + stream->place, from, (size_t)size);
    stream->place = end;
    if (end > stream->count) stream->count = end;
    return size;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
    wi_tiff_stream *stream = handle;
    uint64_t base = whence == SEEK_CUR ? stream->place : whence == SEEK_END ? stream->count : 0;
    return stream->place = base + offset;
}

static int on_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t on_size(thandle_t handle) { return ((wi_tiff_stream *)handle)->count; }

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    wi_tiff_stream *stream = user;
    (void)tiff, (void)module;
    if (!stream->message[0]) vsnprintf(stream->message, sizeof stream->message, format, arguments);
    return 1;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)user, (void)module, (void)format, (void)arguments;
    return 1;
}

TIFF *wi_tiff_stream_open(wi_tiff_stream *stream, const char *mode, size_t max_bytes) {
    TIFFOpenOptions *options = libtiff.TIFFOpenOptionsAlloc();
    if (!options) {
        stream->is_short_of_memory = 1;
        return NULL;
    }
    libtiff.TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, stream);
    libtiff.TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, stream);
    if (max_bytes) libtiff.TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)(max_bytes > PTRDIFF_MAX ? 0 : max_bytes));
    // Don't map the file, so that reads past the end are detected.
    TIFF *tiff = libtiff.TIFFClientOpenExt("memory", mode, stream, on_read, on_write, on_seek, on_close, on_size, NULL, NULL,
                                   options);
    libtiff.TIFFOpenOptionsFree(options);
    return tiff;
}
#endif
