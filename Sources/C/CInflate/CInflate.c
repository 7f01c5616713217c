// SPDX-License-Identifier: MIT
#include <limits.h>
#include <zlib.h>
#include "CInflate.h"

/// The size of the window, negative for data without a zlib header.
enum { RAW_WINDOW = -15 };

wi_inflate_end wi_inflate(const uint8_t *bytes, size_t count, uint8_t *out, size_t room, size_t *written) {
    *written = 0;
    z_stream stream = {0};
    if (inflateInit2(&stream, RAW_WINDOW) != Z_OK) return WI_INFLATE_CORRUPT;
    stream.next_in = (z_const Bytef *)bytes;
    stream.avail_in = count < UINT_MAX ? (uInt)count : UINT_MAX;
    stream.next_out = out;
    stream.avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
    int status = inflate(&stream, Z_SYNC_FLUSH);
    *written = (size_t)(stream.next_out - out);
    inflateEnd(&stream);
    if (status == Z_STREAM_END) return WI_INFLATE_FINISHED;
    if (status != Z_OK && status != Z_BUF_ERROR) return WI_INFLATE_CORRUPT;
    return stream.avail_out == 0 ? WI_INFLATE_FULL : WI_INFLATE_SHORT;
}
