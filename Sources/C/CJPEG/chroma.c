// SPDX-License-Identifier: MIT
#include "chroma.h"
#include <stdlib.h>
#include "PixelChroma.h"

enum {
    /// The rows that libjpeg receives at the same time.
    BAND = 2 * DCTSIZE,
    /// The chroma rows of a band, after the last one of the previous band and before the first one of the next band.
    CHROMA_ROWS = DCTSIZE + 2,
};

struct wi_jpeg_chroma {
    size_t width;
    /// The number of complete pairs of rows whose chroma is known, including those of written bands.
    size_t pairs;
    /// The number of pairs in written bands.
    size_t written;
    /// Nonzero if `rows[next]` contains the upper row of an incomplete pair.
    int has_upper;
    /// The rows of the last complete pair and of the next one.
    uint8_t *rows[2][2];
    JSAMPROW luma[BAND];
    JSAMPROW cb[CHROMA_ROWS], cr[CHROMA_ROWS];
    uint8_t *memory;
};

static size_t padded(size_t width, size_t unit) { return (width + unit - 1) / unit * unit; }

wi_jpeg_chroma *wi_jpeg_chroma_open(uint32_t width) {
    wi_jpeg_chroma *own = calloc(1, sizeof *own);
    if (!own) return NULL;
    own->width = width;
    // libjpeg reads complete blocks.
    const size_t wide = padded(width, BAND), narrow = wide / 2, row = (size_t)width * 4;
    own->memory = calloc(1, 4 * row + BAND * wide + 2 * CHROMA_ROWS * narrow);
    if (!own->memory) {
        free(own);
        return NULL;
    }
    uint8_t *next = own->memory;
    for (int pair = 0; pair < 2; pair++)
        for (int index = 0; index < 2; index++, next += row) own->rows[pair][index] = next;
    for (int index = 0; index < BAND; index++, next += wide) own->luma[index] = next;
    for (int index = 0; index < CHROMA_ROWS; index++, next += narrow) own->cb[index] = next;
    for (int index = 0; index < CHROMA_ROWS; index++, next += narrow) own->cr[index] = next;
    return own;
}

void wi_jpeg_chroma_close(wi_jpeg_chroma *own) {
    if (!own) return;
    free(own->memory);
    free(own);
}

/// Repeats the last sample of a row up to the end of its last block.
static void pad(JSAMPROW row, size_t count, size_t end) { memset(row + count, row[count - 1], end - count); }

/// Computes the luma of a pair. `after` is the chroma row below it.
static void convert(wi_jpeg_chroma *own, size_t pair, size_t after) {
    const size_t slot = pair - own->written + 1, before = pair > 0 ? slot - 1 : slot;
    const uint8_t *const near[2] = {own->cb[slot], own->cr[slot]};
    const uint8_t *const above[2] = {own->cb[before], own->cr[before]};
    const uint8_t *const below[2] = {own->cb[after], own->cr[after]};
    for (size_t index = 0; index < 2; index++) {
        JSAMPROW luma = own->luma[(slot - 1) * 2 + index];
        wi_luma_row(own->rows[pair % 2][index], own->width, near, index ? below : above, luma);
        pad(luma, own->width, padded(own->width, BAND));
    }
}

static void write_band(wi_jpeg_chroma *own, j_compress_ptr info) {
    JSAMPARRAY planes[3] = {own->luma, own->cb + 1, own->cr + 1};
    jpeg_write_raw_data(info, planes, BAND);
    own->written += DCTSIZE;
    // The last row of this band and the first row of the next one remain.
    for (size_t index = 0; index < 2; index++) {
        JSAMPROW cb = own->cb[index], cr = own->cr[index];
        own->cb[index] = own->cb[DCTSIZE + index];
        own->cr[index] = own->cr[DCTSIZE + index];
        own->cb[DCTSIZE + index] = cb;
        own->cr[DCTSIZE + index] = cr;
    }
}

static void add_pair(wi_jpeg_chroma *own, j_compress_ptr info) {
    const size_t pair = own->pairs, slot = pair - own->written + 1, narrow = (own->width + 1) / 2;
    uint8_t *const *rows = own->rows[pair % 2];
    wi_chroma_row(rows[0], rows[1], own->width, own->cb[slot], own->cr[slot]);
    pad(own->cb[slot], narrow, padded(own->width, BAND) / 2);
    pad(own->cr[slot], narrow, padded(own->width, BAND) / 2);
    own->pairs++;
    if (pair == 0) return;
    convert(own, pair - 1, slot);
    if (pair - own->written == DCTSIZE) write_band(own, info);
}

void wi_jpeg_chroma_add(wi_jpeg_chroma *own, j_compress_ptr info, const uint8_t *row) {
    memcpy(own->rows[own->pairs % 2][own->has_upper], row, own->width * 4);
    if (own->has_upper) add_pair(own, info);
    own->has_upper = !own->has_upper;
}

void wi_jpeg_chroma_finish(wi_jpeg_chroma *own, j_compress_ptr info) {
    if (own->has_upper) {
        uint8_t *const *rows = own->rows[own->pairs % 2];
        memcpy(rows[1], rows[0], own->width * 4);
        add_pair(own, info);
    }
    if (own->pairs == 0) return;
    const size_t last = own->pairs - own->written;
    convert(own, own->pairs - 1, last);
    // Rows below the image repeat the last one, which costs the fewest bits.
    for (size_t index = last + 1; index <= DCTSIZE; index++) {
        memcpy(own->cb[index], own->cb[last], padded(own->width, BAND) / 2);
        memcpy(own->cr[index], own->cr[last], padded(own->width, BAND) / 2);
        for (size_t half = 0; half < 2; half++)
            memcpy(own->luma[(index - 1) * 2 + half], own->luma[last * 2 - 1], padded(own->width, BAND));
    }
    write_band(own, info);
}
