// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>
#include "CGIF.h"

#define SLOTS 1024

/// A hash table from colors to indices, with open addressing. At most 256 of its 1,024 slots are used.
typedef struct {
    uint32_t colour[SLOTS];
    uint16_t index[SLOTS];
} colour_table;

/// Returns the slot that contains `colour`, or the free slot for it.
static inline unsigned slot_of(const colour_table *table, uint32_t colour) {
    unsigned slot = (colour * 2654435761u) >> 22;
    while (table->colour[slot] && table->colour[slot] != colour) slot = (slot + 1) & (SLOTS - 1);
    return slot;
}

int wi_gif_palette_exact(const uint32_t *pixels, size_t count, unsigned limit, wi_gif_palette *palette) {
    colour_table seen;
    memset(&seen, 0, sizeof seen);
    palette->count = 0;
    uint32_t last = 0;
    for (size_t at = 0; at < count; at++) {
        uint32_t colour = pixels[at];
        if (colour == last || colour == 0) continue;
        last = colour;
        unsigned slot = slot_of(&seen, colour);
        if (seen.colour[slot]) continue;
        if (palette->count == limit) return 0;
        seen.colour[slot] = colour;
        palette->colours[palette->count++] = colour;
    }
    return 1;
}

int wi_gif_map_exact(const uint32_t *pixels, size_t count, const wi_gif_palette *palette, uint8_t transparent,
                     uint8_t *indices) {
    colour_table known;
    memset(&known, 0, sizeof known);
    for (unsigned place = 0; place < palette->count; place++) {
        unsigned slot = slot_of(&known, palette->colours[place]);
        if (known.colour[slot]) continue;
        known.colour[slot] = palette->colours[place];
        known.index[slot] = (uint16_t)place;
    }
    for (size_t at = 0; at < count; at++) {
        if (pixels[at] == 0) {
            indices[at] = transparent;
            continue;
        }
        unsigned slot = slot_of(&known, pixels[at]);
        if (!known.colour[slot]) return 0;
        indices[at] = (uint8_t)known.index[slot];
    }
    return 1;
}

/// The pixels whose samples are equal in the upper five bits.
typedef struct {
    uint64_t count;
    uint64_t sum[3];
    uint8_t mean[3];
} cell;

typedef struct {
    size_t first;
    size_t count;
    uint64_t pixels;
    /// The axis along which the colors differ most, followed by the total spread along it.
    int axis;
    double spread;
} box;

static int by_red(const void *left, const void *right) {
    return (int)((const cell *)left)->mean[0] - (int)((const cell *)right)->mean[0];
}
static int by_green(const void *left, const void *right) {
    return (int)((const cell *)left)->mean[1] - (int)((const cell *)right)->mean[1];
}
static int by_blue(const void *left, const void *right) {
    return (int)((const cell *)left)->mean[2] - (int)((const cell *)right)->mean[2];
}

static box measured(const cell *cells, size_t first, size_t count) {
    box result = {first, count, 0, 0, 0};
    double sum[3] = {0}, squares[3] = {0};
    for (size_t at = first; at < first + count; at++) {
        result.pixels += cells[at].count;
        for (int axis = 0; axis < 3; axis++) {
            double value = cells[at].mean[axis];
            sum[axis] += value * (double)cells[at].count;
            squares[axis] += value * value * (double)cells[at].count;
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        double spread = squares[axis] - sum[axis] * sum[axis] / (double)result.pixels;
        if (spread > result.spread) {
            result.spread = spread;
            result.axis = axis;
        }
    }
    return result;
}

/// Counts the colors of the pixels. Cells with pixels are moved to the beginning.
static size_t gather(const uint32_t *pixels, size_t count, cell *cells) {
    for (size_t at = 0; at < count; at++) {
        uint8_t value[4];
        if (pixels[at] == 0) continue;
        memcpy(value, &pixels[at], 4);
        cell *to = &cells[(value[0] >> 3) << 10 | (value[1] >> 3) << 5 | value[2] >> 3];
        to->count++;
        for (int axis = 0; axis < 3; axis++) to->sum[axis] += value[axis];
    }
    size_t used = 0;
    for (size_t at = 0; at < 32768; at++) {
        if (cells[at].count == 0) continue;
        cell found = cells[at];
        for (int axis = 0; axis < 3; axis++)
            found.mean[axis] = (uint8_t)((found.sum[axis] + found.count / 2) / found.count);
        cells[used++] = found;
    }
    return used;
}

/// Returns the position that divides the cells of `whole`, sorted along its axis, into two halves with equal numbers
/// of pixels.
static size_t median(const cell *cells, const box *whole) {
    uint64_t passed = 0;
    for (size_t at = 0; at + 1 < whole->count; at++) {
        passed += cells[whole->first + at].count;
        if (passed * 2 >= whole->pixels) return at + 1;
    }
    return whole->count - 1;
}

static uint32_t mean_colour(const cell *cells, const box *of) {
    uint8_t value[4] = {0, 0, 0, 255};
    uint32_t colour;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t sum = 0;
        for (size_t at = of->first; at < of->first + of->count; at++) sum += cells[at].sum[axis];
        value[axis] = (uint8_t)((sum + of->pixels / 2) / of->pixels);
    }
    memcpy(&colour, value, 4);
    return colour;
}

int wi_gif_palette_cut(const uint32_t *pixels, size_t count, unsigned limit, wi_gif_palette *palette) {
    static int (*const order[3])(const void *, const void *) = {by_red, by_green, by_blue};
    box boxes[256];
    palette->count = 0;
    cell *cells = calloc(32768, sizeof *cells);
    if (!cells) return 0;
    size_t used = gather(pixels, count, cells);
    unsigned made = 0;
    if (used > 0) boxes[made++] = measured(cells, 0, used);
    while (made > 0 && made < limit && made < 256) {
        unsigned widest = 0;
        for (unsigned at = 1; at < made; at++)
            if (boxes[at].spread > boxes[widest].spread) widest = at;
        box whole = boxes[widest];
        if (whole.count < 2 || whole.spread <= 0) break;
        qsort(cells + whole.first, whole.count, sizeof *cells, order[whole.axis]);
        size_t half = median(cells, &whole);
        boxes[widest] = measured(cells, whole.first, half);
        boxes[made++] = measured(cells, whole.first + half, whole.count - half);
    }
    for (unsigned at = 0; at < made; at++) palette->colours[palette->count++] = mean_colour(cells, &boxes[at]);
    free(cells);
    return 1;
}
