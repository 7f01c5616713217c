// SPDX-License-Identifier: MIT
#include "CNetFaults.h"

#include <brotli/encode.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

size_t wi_deflate(const void *source, size_t count, void *target, size_t room, int window_bits) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (unsigned char *)source;
    stream.avail_in = (unsigned int)count;
    stream.next_out = target;
    stream.avail_out = (unsigned int)room;
    int result = deflate(&stream, Z_FINISH);
    size_t written = room - stream.avail_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? written : 0;
}

size_t wi_brotli(const void *source, size_t count, void *target, size_t room) {
    size_t written = room;
    return BrotliEncoderCompress(5, BROTLI_DEFAULT_WINDOW, BROTLI_DEFAULT_MODE, count, source, &written, target)
               ? written
               : 0;
}

size_t wi_zstd(const void *source, size_t count, void *target, size_t room) {
    size_t written = ZSTD_compress(target, room, source, count, 3);
    return ZSTD_isError(written) ? 0 : written;
}
