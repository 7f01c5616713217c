// SPDX-License-Identifier: MIT
// A fast path for complete PNG files that decompresses the data in one call.
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "CPNG.h"
#include "bytes.h"

typedef struct {
    const uint8_t *name;
    const uint8_t *body;
    size_t count;
} chunk;

static bool is_named(const chunk *found, const char *name) { return memcmp(found->name, name, 4) == 0; }

/// Reads the chunk at `*at`. The checksum isn't verified, because wi_png_has_valid_checks verifies those of all chunks. If the
/// file ends inside pixels, the chunk has the available ones, because only their checksums may be missing.
static bool next_chunk(const uint8_t *png, size_t count, size_t *at, chunk *found) {
    if (count - *at < 8) return false;
    const size_t length = number(png + *at), left = count - *at - 8;
    if (length > 0x7FFFFFFF) return false;
    found->name = png + *at + 4;
    found->body = found->name + 4;
    found->count = length < left ? length : left;
    if (left >= 4 && length <= left - 4) {
        *at += length + 12;
        return true;
    }
    *at = count;
    return is_named(found, "IDAT") && found->count > 0;
}

/// The contents of Apple's chunk iDOT with two strips, or zeros.
typedef struct {
    uint32_t rows;
    /// The offsets of the IDAT chunks with which the strips begin, in bytes from the start of the file.
    size_t first, second;
} strips;

/// Reads the chunk iDOT: the number of strips, and the first row, the number of rows, and the offset of each. The offset
/// is relative to the chunk.
static strips read_strips(const chunk *found, const uint8_t *png, uint32_t height) {
    const strips none = {0, 0, 0};
    if (found->count != 28 || number(found->body) != 2) return none;
    uint32_t values[6];
    for (size_t index = 0; index < 6; index++) values[index] = number(found->body + 4 + index * 4);
    size_t start = (size_t)(found->name - 4 - png);
    if (values[0] != 0 || values[1] == 0 || values[1] >= height || values[3] != values[1] ||
        values[4] != height - values[1] || values[5] <= values[2])
        return none;
    return (strips){values[1], start + values[2], start + values[5]};
}

bool wi_png_pixels_find(const uint8_t *png, size_t count, uint32_t height, wi_png_pixels *pixels) {
    size_t at = 8, chunks = 0, capacity = 0, start = 8;
    strips parts = {0, 0, 0};
    bool begins = false;
    chunk found;
    memset(pixels, 0, sizeof *pixels);
    for (; next_chunk(png, count, &at, &found); start = at) {
        if (!is_named(&found, "IDAT")) {
            if (chunks > 0) break;
            if (is_named(&found, "iDOT")) parts = read_strips(&found, png, height);
            continue;
        }
        if (chunks == 0) {
            begins = start == parts.first;
            pixels->data = found.body;
        } else if (start == parts.second && begins) {
            pixels->first_rows = parts.rows;
            pixels->first_count = pixels->count;
        }
        if (chunks == 1) {
            pixels->joined = malloc(capacity = count - (size_t)(pixels->data - png));
            if (pixels->joined != NULL) memcpy(pixels->joined, pixels->data, pixels->count);
            pixels->data = pixels->joined;
        }
        if (chunks >= 1) {
            if (pixels->joined == NULL || found.count > capacity - pixels->count) return false;
            memcpy(pixels->joined + pixels->count, found.body, found.count);
        }
        pixels->count += found.count;
        chunks++;
    }
    return chunks > 0;
}

void wi_png_pixels_free(wi_png_pixels *pixels) { free(pixels->joined); }

/// Returns whether the data begins with the header of a zlib stream without a dictionary (RFC 1950, section 2.2).
static bool has_header(const uint8_t *data, size_t count) {
    return count > 2 && (data[0] & 15) == 8 && data[0] >> 4 <= 7 && !(data[1] & 32) && (data[0] << 8 | data[1]) % 31 == 0;
}

wi_png_unpack_result wi_png_unpack(const wi_png_pixels *pixels, uint8_t *raw, size_t raw_count) {
    if (!has_header(pixels->data, pixels->count)) return WI_PNG_UNPACK_FAILED;
    const uint8_t *data = pixels->data + 2;
    const size_t count = pixels->count - 2;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (decompressor == NULL) return WI_PNG_UNPACK_FAILED;
    size_t consumed = 0, produced = 0;
    bool is_whole = libdeflate_deflate_decompress_ex(decompressor, data, count, raw, raw_count, &consumed, &produced) ==
                        LIBDEFLATE_SUCCESS &&
                    produced == raw_count;
    libdeflate_free_decompressor(decompressor);
    if (!is_whole) return WI_PNG_UNPACK_FAILED;
    bool is_verified = count - consumed >= 4 && number(data + consumed) == libdeflate_adler32(1, raw, raw_count);
    return is_verified ? WI_PNG_UNPACKED : WI_PNG_UNPACKED_WITHOUT_CHECK;
}

bool wi_png_unpack_beginning(const wi_png_pixels *pixels, uint8_t *raw, size_t raw_count) {
    if (!has_header(pixels->data, pixels->count)) return false;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (decompressor == NULL) return false;
    enum libdeflate_result result =
        libdeflate_deflate_decompress(decompressor, pixels->data + 2, pixels->count - 2, raw, raw_count, NULL);
    libdeflate_free_decompressor(decompressor);
    return result == LIBDEFLATE_INSUFFICIENT_SPACE;
}

enum { FILLER = 65535, LAST = 64 };
_Static_assert(FILLER + LAST == WI_PNG_STRIP_ROOM, "the room differs from the output of the end");

/// Appends the end of a deflate stream that shows whether the data before it ends between two blocks.
///
/// The end is a stored block of 65,535 bytes and a final stored block of 64 bytes, all of them 255. Decompression
/// succeeds, consumes all bytes, and produces the expected number of bytes only if `data` ends at a byte boundary after a
/// block that isn't the final one:
/// - Inside a stored block, the next block would begin in the filler, where every header is invalid.
/// - Inside a compressed block, the filler has more ones than a code has bits, so it consists of repetitions of the one
///   code with only ones. If this code ends the block, the next header is invalid. Otherwise, no block ends in the
///   filler. The same applies to the last bytes. Between them, no header of a final block leads to the end of the data.
///   In the first byte, the padding consists of ones, so that it doesn't contain a header after a code of zeros.
static void append_end(uint8_t *end) {
    static const uint8_t filler[] = {0xF8, 0xFF, 0xFF, 0, 0}, last[] = {1, LAST, 0, 0xFF - LAST, 0xFF};
    memcpy(end, filler, 5);
    memset(end + 5, 0xFF, FILLER);
    memcpy(end + 5 + FILLER, last, 5);
    memset(end + 10 + FILLER, 0xFF, LAST);
}

bool wi_png_unpack_first_strip(const wi_png_pixels *pixels, uint8_t *raw, size_t raw_count, uint32_t *check) {
    const size_t count = pixels->first_count;
    if (!has_header(pixels->data, count)) return false;
    const size_t length = count - 2 + 10 + FILLER + LAST, expected = raw_count + WI_PNG_STRIP_ROOM;
    uint8_t *data = malloc(length);
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    size_t consumed = 0, produced = 0;
    bool is_whole = false;
    if (data != NULL && decompressor != NULL) {
        memcpy(data, pixels->data + 2, count - 2);
        append_end(data + count - 2);
        is_whole = libdeflate_deflate_decompress_ex(decompressor, data, length, raw, expected, &consumed, &produced) ==
                       LIBDEFLATE_SUCCESS &&
                   consumed == length && produced == expected;
    }
    for (size_t index = raw_count; is_whole && index < expected; index++) is_whole = raw[index] == 0xFF;
    if (is_whole) *check = libdeflate_adler32(1, raw, raw_count);
    if (decompressor != NULL) libdeflate_free_decompressor(decompressor);
    free(data);
    return is_whole;
}

bool wi_png_unpack_second_strip(const wi_png_pixels *pixels, uint8_t *raw, size_t raw_count, uint32_t *check,
                                uint32_t *expected) {
    const uint8_t *data = pixels->data + pixels->first_count;
    const size_t count = pixels->count - pixels->first_count;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (decompressor == NULL) return false;
    size_t consumed = 0, produced = 0;
    bool is_whole = libdeflate_deflate_decompress_ex(decompressor, data, count, raw, raw_count, &consumed, &produced) ==
                        LIBDEFLATE_SUCCESS &&
                    produced == raw_count && count - consumed >= 4;
    libdeflate_free_decompressor(decompressor);
    if (!is_whole) return false;
    *check = libdeflate_adler32(1, raw, raw_count);
    *expected = number(data + consumed);
    return true;
}

uint32_t wi_png_combine_checks(uint32_t first, uint32_t second, size_t second_count) {
    const uint64_t base = 65521, length = second_count % base;
    uint64_t low = (first & 0xFFFF) + (second & 0xFFFF) + base - 1;
    uint64_t high = length * (first & 0xFFFF) + (first >> 16) + (second >> 16) + base - length;
    return (uint32_t)(high % base << 16 | low % base);
}

const char *wi_deflate_version(void) { return LIBDEFLATE_VERSION_STRING; }
