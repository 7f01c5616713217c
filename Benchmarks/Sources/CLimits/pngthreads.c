// SPDX-License-Identifier: MIT
// The bound for PNG decoders on two threads: decompression alone. A file without the chunk iDOT is one deflate stream, in
// which every part depends on the previous one, so a second thread can only reverse filters and compute checksums.
#include "CLimits.h"
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t number(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint8_t *put_number(uint8_t *p, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) *p++ = (uint8_t)(value >> shift);
    return p;
}

/// Appends the bodies of the IDAT chunks to `data`, and returns their size.
static size_t join_data(const uint8_t *bytes, size_t count, uint8_t *data) {
    size_t total = 0;
    for (size_t at = 8; at + 12 <= count;) {
        size_t length = number(bytes + at);
        if (length > count - at - 12) return 0;
        if (memcmp(bytes + at + 4, "IDAT", 4) == 0) {
            memcpy(data + total, bytes + at + 8, length);
            total += length;
        }
        at += length + 12;
    }
    return total;
}

int wi_limit_png_inflate(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity, wi_limit_size *size) {
    uint8_t *data = malloc(count);
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    size_t length = data ? join_data(bytes, count, data) : 0;
    size->width = (int)number(bytes + 16);
    size->height = (int)number(bytes + 20);
    size_t raw = ((size_t)size->width * 3 + 1) * (size_t)size->height;
    int result = -1;
    // The data has a header of 2 bytes and a checksum of 4 bytes.
    if (decompressor && length > 6 && raw <= capacity &&
        libdeflate_deflate_decompress(decompressor, data + 2, length - 6, output, raw, NULL) == LIBDEFLATE_SUCCESS)
        result = 0;
    if (decompressor) libdeflate_free_decompressor(decompressor);
    free(data);
    return result;
}

static uint8_t *put_chunk(uint8_t *p, const char *name, const uint8_t *body, size_t count) {
    p = put_number(p, (uint32_t)count);
    memcpy(p, name, 4);
    memcpy(p + 4, body, count);
    return put_number(p + 4 + count, libdeflate_crc32(0, p, count + 4));
}

/// Filters rows with Paeth, and the first row of each strip with Sub, so that it doesn't depend on the other strip.
static void filter(const uint8_t *rgba, int width, int row, int isFirst, uint8_t *out) {
    const uint8_t *line = rgba + (size_t)row * (size_t)width * 4, *above = line - (size_t)width * 4;
    *out++ = isFirst ? 1 : 4;
    for (int x = 0; x < width; x++) {
        for (int channel = 0; channel < 3; channel++) {
            int left = x ? line[x * 4 - 4 + channel] : 0, near = left;
            if (!isFirst) {
                int up = above[x * 4 + channel], corner = x ? above[x * 4 - 4 + channel] : 0;
                int toLeft = abs(up - corner), toUp = abs(left - corner), toCorner = abs(left + up - 2 * corner);
                near = toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
            }
            *out++ = (uint8_t)(line[x * 4 + channel] - near);
        }
    }
}

/// Compresses the rows. `*first` is the size of the data of the first strip.
static size_t compress_rows(uint8_t *raw, size_t strip, size_t count, uint8_t *out, size_t room, size_t *first) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit(&stream, 6) != Z_OK) return 0;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    stream.next_in = raw;
    stream.avail_in = (uInt)strip;
    deflate(&stream, Z_FULL_FLUSH);
    *first = stream.total_out;
    stream.avail_in = (uInt)(count - strip);
    int isDone = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    size_t total = stream.total_out;
    deflateEnd(&stream);
    return isDone ? total : 0;
}

uint8_t *wi_limit_make_strips(const uint8_t *rgba, int width, int height, size_t *count) {
    int half = height / 2;
    size_t row = (size_t)width * 3 + 1, total = row * (size_t)height, room = total + total / 100 + 1024, first = 0;
    uint8_t *raw = malloc(total), *packed = malloc(room), *file = malloc(room + 200);
    size_t length = 0;
    if (raw && packed && file) {
        for (int y = 0; y < height; y++) filter(rgba, width, y, y == 0 || y == half, raw + row * (size_t)y);
        length = compress_rows(raw, row * (size_t)half, total, packed, room, &first);
    }
    free(raw);
    if (length) {
        uint8_t header[13] = {0}, strips[28];
        put_number(put_number(header, (uint32_t)width), (uint32_t)height);
        header[8] = 8;
        header[9] = 2;
        const uint32_t numbers[] = {2,  0, (uint32_t)half, 40, (uint32_t)half, (uint32_t)(height - half),
                                    (uint32_t)(40 + 12 + first)};
        for (int index = 0; index < 7; index++) put_number(strips + index * 4, numbers[index]);
        memcpy(file, "\x89PNG\r\n\x1A\n", 8);
        uint8_t *end = put_chunk(put_chunk(file + 8, "IHDR", header, 13), "iDOT", strips, 28);
        end = put_chunk(put_chunk(end, "IDAT", packed, first), "IDAT", packed + first, length - first);
        *count = (size_t)(put_chunk(end, "IEND", header, 0) - file);
    } else {
        free(file);
        file = NULL;
    }
    free(packed);
    return file;
}
