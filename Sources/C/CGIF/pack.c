// SPDX-License-Identifier: MIT
#include <string.h>
#include "CGIF.h"

#define SLOTS 8192
#define MAX_CODES 4096

/// The dictionary of strings, which are stored as a previous string and one additional index. It's a hash table with
/// open addressing, of which at most half the slots are used.
typedef struct {
    uint32_t key[SLOTS];
    uint16_t code[SLOTS];
} dictionary;

typedef struct {
    uint8_t *out;
    size_t capacity;
    /// The position for the length of the current sub-block, followed by the position of the next byte.
    size_t block;
    size_t at;
    uint32_t bits;
    unsigned count;
    int is_full;
} bit_writer;

static void put_byte(bit_writer *to, uint8_t byte) {
    if (to->at - to->block == 256) {
        to->out[to->block] = 255;
        to->block = to->at++;
    }
    // Reserve space for the next length and the terminator.
    if (to->at + 3 > to->capacity) {
        to->is_full = 1;
        return;
    }
    to->out[to->at++] = byte;
}

static void put_code(bit_writer *to, unsigned code, unsigned width) {
    if (to->is_full) return;
    to->bits |= code << to->count;
    to->count += width;
    while (to->count >= 8 && !to->is_full) {
        put_byte(to, (uint8_t)to->bits);
        to->bits >>= 8;
        to->count -= 8;
    }
}

/// Finishes the chain of sub-blocks.
static size_t finish(bit_writer *to) {
    if (to->count > 0) put_byte(to, (uint8_t)to->bits);
    if (to->is_full) return 0;
    to->out[to->block] = (uint8_t)(to->at - to->block - 1);
    // An empty last block already is the terminator.
    if (to->at - to->block > 1) to->out[to->at++] = 0;
    return to->at;
}

size_t wi_gif_pack_bound(size_t pixels) {
    // The sum of a 12-bit code per pixel, a clear code per 3,837 codes (4,096 - 259), and a length per 255 bytes.
    size_t bytes = (pixels + pixels / 3837 + 4) * 3 / 2 + 2;
    return bytes + bytes / 255 + 8;
}

size_t wi_gif_pack(const uint8_t *indices, size_t pixels, unsigned minimum_code_size, uint8_t *out, size_t capacity) {
    dictionary known;
    if (capacity < 8 || pixels == 0) return 0;
    bit_writer to = {out, capacity, 0, 1, 0, 0, 0};
    const unsigned clear = 1u << minimum_code_size, end = clear + 1;
    unsigned next = end + 1, width = minimum_code_size + 1, prefix = indices[0];
    memset(known.key, 0, sizeof known.key);
    put_code(&to, clear, width);
    for (size_t at = 1; at < pixels; at++) {
        // Add 1 to the pair, because 0 means a free slot.
        uint32_t key = (prefix << 8 | indices[at]) + 1;
        unsigned slot = (key * 2654435761u) >> 19;
        while (known.key[slot] && known.key[slot] != key) slot = (slot + 1) & (SLOTS - 1);
        if (known.key[slot] == key) {
            prefix = known.code[slot];
            continue;
        }
        put_code(&to, prefix, width);
        prefix = indices[at];
        known.key[slot] = key;
        known.code[slot] = (uint16_t)next;
        if (next == (1u << width)) width++;
        next++;
        if (next == MAX_CODES) {
            put_code(&to, clear, width);
            memset(known.key, 0, sizeof known.key);
            next = end + 1;
            width = minimum_code_size + 1;
        }
    }
    put_code(&to, prefix, width);
    // The decoder also creates an entry for the last code.
    if (next == (1u << width) && width < 12) width++;
    put_code(&to, end, width);
    return finish(&to);
}
