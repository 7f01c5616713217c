// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include "CSVG.h"

static wi_svg_status inflate_all(z_stream *stream, size_t limit, uint8_t **text, size_t *count) {
    size_t room = 0, used = 0;
    uint8_t *memory = NULL;
    for (;;) {
        if (used == room) {
            // Allow one byte more than the limit, so that larger data is detected.
            size_t next = room ? room * 2 : 16 << 10;
            if (next > limit + 1) next = limit + 1;
            uint8_t *larger = next > room ? realloc(memory, next) : NULL;
            if (!larger) break;
            memory = larger;
            room = next;
        }
        stream->next_out = memory + used;
        stream->avail_out = (uInt)(room - used);
        int result = inflate(stream, Z_NO_FLUSH);
        used = room - stream->avail_out;
        if (used > limit) break;
        if (result == Z_STREAM_END) {
            *text = memory;
            *count = used;
            return WI_SVG_OK;
        }
        if (result == Z_OK && (stream->avail_in || !stream->avail_out)) continue;
        free(memory);
        return result == Z_OK || result == Z_BUF_ERROR ? WI_SVG_TRUNCATED : WI_SVG_CORRUPT;
    }
    wi_svg_status status = used > limit ? WI_SVG_TOO_LARGE : WI_SVG_MEMORY;
    free(memory);
    return status;
}

wi_svg_status wi_svg_unpack(const uint8_t *packed, size_t count, size_t limit, uint8_t **text, size_t *text_count) {
    z_stream stream = {0};
    if (count > UINT_MAX || limit > UINT_MAX / 2) return WI_SVG_TOO_LARGE;
    // Add 16 to the 15 bits of the window to select gzip.
    if (inflateInit2(&stream, 15 + 16) != Z_OK) return WI_SVG_MEMORY;
    stream.next_in = (Bytef *)packed;
    stream.avail_in = (uInt)count;
    wi_svg_status status = inflate_all(&stream, limit, text, text_count);
    inflateEnd(&stream);
    return status;
}
#endif
