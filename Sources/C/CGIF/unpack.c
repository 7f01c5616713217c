// SPDX-License-Identifier: MIT
#include <string.h>
#include "CGIF.h"

#define MAX_CODES 4096

/// The dictionary for LZW (GIF89a, appendix F). Each string is a previous string and one additional index, and it has
/// already been decompressed. Therefore, the dictionary contains offsets in `out` instead of the strings.
typedef struct {
    size_t start[MAX_CODES];
    uint32_t length[MAX_CODES];
} dictionary;

typedef struct {
    const uint8_t *next;
    size_t left;
    size_t block;
    uint32_t bits;
    unsigned count;
} bit_reader;

/// Reads a code. Returns 1 for a code, 0 at the end of the chain of sub-blocks, and -1 at the end of the file.
static inline int read_code(bit_reader *in, unsigned width, unsigned *code) {
    while (in->count < width) {
        if (in->block == 0) {
            if (in->left == 0) return -1;
            in->block = *in->next++;
            in->left--;
            if (in->block == 0) {
                // Don't consume the terminator, so that later calls return 0, too.
                in->next--;
                in->left++;
                return 0;
            }
        }
        if (in->left == 0) return -1;
        in->bits |= (uint32_t)*in->next++ << in->count;
        in->left--;
        in->block--;
        in->count += 8;
    }
    *code = in->bits & ((1u << width) - 1);
    in->bits >>= width;
    in->count -= width;
    return 1;
}

/// Copies a string. The source and the target may overlap, in which case bytes are copied one at a time.
static inline void copy_string(uint8_t *out, size_t from, size_t to, size_t length, size_t capacity) {
    if (to - from < 8 || capacity - to < length + 8) {
        for (size_t i = 0; i < length; i++) out[to + i] = out[from + i];
        return;
    }
    for (size_t i = 0; i < length; i += 8) memcpy(out + to + i, out + from + i, 8);
}

wi_gif_status wi_gif_unpack(const uint8_t *data, size_t count, unsigned minimum_code_size, uint8_t *out, size_t pixels,
                            size_t *done) {
    dictionary known;
    bit_reader in = {data, count, 0, 0, 0};
    size_t at = 0;
    *done = 0;
    if (minimum_code_size < 1 || minimum_code_size > 11) return WI_GIF_CORRUPT;
    const unsigned clear = 1u << minimum_code_size, end = clear + 1;
    unsigned next = end + 1, width = minimum_code_size + 1, code = 0;
    size_t last_start = 0, last_length = 0;
    while (at < pixels) {
        int found = read_code(&in, width, &code);
        if (found <= 0) {
            *done = at;
            return found == 0 ? WI_GIF_SHORT : WI_GIF_TRUNCATED;
        }
        if (code == clear) {
            next = end + 1;
            width = minimum_code_size + 1;
            last_length = 0;
            continue;
        }
        if (code == end) break;
        // The new string is the previous string and the first index of this one, which is known as soon as this one is
        // written.
        if (last_length > 0 && next < MAX_CODES) {
            known.start[next] = last_start;
            known.length[next] = (uint32_t)last_length + 1;
            next++;
        }
        if (code >= next) {
            *done = at;
            return WI_GIF_CORRUPT;
        }
        size_t length = code < clear ? 1 : known.length[code];
        if (length > pixels - at) length = pixels - at;
        if (code < clear)
            out[at] = (uint8_t)code;
        else
            copy_string(out, known.start[code], at, length, pixels);
        last_start = at;
        last_length = length;
        at += length;
        if (next == (1u << width) && width < 12) width++;
    }
    *done = at;
    return at == pixels ? WI_GIF_OK : WI_GIF_SHORT;
}
