// SPDX-License-Identifier: MIT
// A fast path for complete PNG files that decompresses the data in one call.
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "CPNG.h"

static uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

typedef struct {
    const uint8_t *body;
    size_t count;
    bool is_data;
} chunk;

/// Reads the chunk at `*at`. Only the checksums of data chunks are verified.
static bool next_chunk(const uint8_t *png, size_t count, size_t *at, chunk *found) {
    if (count - *at < 12) return false;
    uint32_t length = number(png + *at);
    if (length > 0x7FFFFFFF || length > count - *at - 12) return false;
    const uint8_t *name = png + *at + 4;
    found->is_data = memcmp(name, "IDAT", 4) == 0;
    found->body = name + 4;
    found->count = length;
    if (found->is_data && libdeflate_crc32(0, name, (size_t)length + 4) != number(name + 4 + length)) return false;
    *at += (size_t)length + 12;
    return true;
}

/// Finds the bodies of the IDAT chunks. A single body is used in place. Several bodies are concatenated in `*joined`,
/// which the caller must release with free.
static bool find_data(const uint8_t *png, size_t count, const uint8_t **data, size_t *length, uint8_t **joined) {
    size_t at = 8, chunks = 0, total = 0, capacity = 0;
    chunk found;
    const uint8_t *first = NULL;
    while (next_chunk(png, count, &at, &found)) {
        if (!found.is_data) {
            if (chunks > 0) break;
            continue;
        }
        if (chunks == 0) first = found.body;
        if (chunks == 1 && (*joined = malloc(capacity = count - (size_t)(first - png))) != NULL)
            memcpy(*joined, first, total);
        if (chunks >= 1) {
            if (*joined == NULL || found.count > capacity - total) return false;
            memcpy(*joined + total, found.body, found.count);
        }
        total += found.count;
        chunks++;
    }
    *data = chunks > 1 ? *joined : first;
    *length = total;
    return chunks > 0;
}

bool wi_png_unpack(const uint8_t *png, size_t count, uint8_t *raw, size_t raw_count) {
    const uint8_t *data = NULL;
    size_t length = 0;
    uint8_t *joined = NULL;
    bool is_whole = false;
    if (find_data(png, count, &data, &length, &joined)) {
        struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
        if (decompressor != NULL) {
            // Without a pointer for the actual size, libdeflate reports an error unless the output has exactly
            // raw_count bytes.
            is_whole = libdeflate_zlib_decompress(decompressor, data, length, raw, raw_count, NULL) ==
                       LIBDEFLATE_SUCCESS;
            libdeflate_free_decompressor(decompressor);
        }
    }
    free(joined);
    return is_whole;
}

const char *wi_deflate_version(void) { return LIBDEFLATE_VERSION_STRING; }
