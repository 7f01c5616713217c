// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>
#include "CGIF.h"

/// A cache of the nearest colors, with the upper six bits of each sample as the key. Entries are created on demand,
/// and 0 means that an entry doesn't exist yet.
typedef struct {
    const wi_gif_palette *palette;
    uint16_t *nearest;
} finder;

static unsigned nearest(finder *in, const int *value) {
    unsigned key = (unsigned)(value[0] >> 2) << 12 | (unsigned)(value[1] >> 2) << 6 | (unsigned)(value[2] >> 2);
    if (in->nearest[key]) return in->nearest[key] - 1u;
    unsigned best = 0;
    int least = 1 << 30;
    for (unsigned at = 0; at < in->palette->count; at++) {
        uint8_t colour[4];
        memcpy(colour, &in->palette->colours[at], 4);
        int red = colour[0] - value[0], green = colour[1] - value[1], blue = colour[2] - value[2];
        // Use rough weights for the luminance.
        int distance = 2 * red * red + 4 * green * green + blue * blue;
        if (distance < least) {
            least = distance;
            best = at;
        }
    }
    in->nearest[key] = (uint16_t)(best + 1);
    return best;
}

static inline int clamped(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/// Distributes the error in sixteenths, as in the Floyd–Steinberg algorithm. The direction is mirrored for rows that
/// are processed from right to left.
static void spread(int *here, int *below, int step, const int *error) {
    for (int channel = 0; channel < 3; channel++) {
        here[3 * step + channel] += error[channel] * 7;
        below[-3 * step + channel] += error[channel] * 3;
        below[channel] += error[channel] * 5;
        below[3 * step + channel] += error[channel];
    }
}

static void map_row(finder *in, const uint32_t *pixels, size_t width, int is_reversed, uint8_t transparent, int *here,
                    int *below, uint8_t *indices) {
    int step = is_reversed ? -1 : 1;
    for (size_t n = 0; n < width; n++) {
        size_t x = is_reversed ? width - 1 - n : n;
        if (pixels[x] == 0) {
            indices[x] = transparent;
            continue;
        }
        uint8_t colour[4], found[4];
        int value[3], error[3];
        memcpy(colour, &pixels[x], 4);
        for (int channel = 0; channel < 3; channel++) {
            int carried = here ? here[(x + 1) * 3 + (size_t)channel] / 16 : 0;
            value[channel] = clamped(colour[channel] + carried);
        }
        unsigned index = nearest(in, value);
        indices[x] = (uint8_t)index;
        if (!here) continue;
        memcpy(found, &in->palette->colours[index], 4);
        for (int channel = 0; channel < 3; channel++) error[channel] = value[channel] - found[channel];
        spread(here + (x + 1) * 3, below + (x + 1) * 3, step, error);
    }
}

int wi_gif_map_nearest(const uint32_t *pixels, size_t width, size_t height, const wi_gif_palette *palette,
                       uint8_t transparent, int dithers, uint8_t *indices) {
    finder in = {palette, calloc(1u << 18, sizeof(uint16_t))};
    // An additional pixel on each side receives the error that would fall outside the row.
    size_t row = (width + 2) * 3;
    int *errors = dithers ? calloc(row * 2, sizeof *errors) : NULL;
    int is_done = in.nearest && (!dithers || errors) && palette->count > 0;
    for (size_t y = 0; is_done && y < height; y++) {
        int *here = errors ? errors + (y & 1) * row : NULL, *below = errors ? errors + (1 - (y & 1)) * row : NULL;
        if (below) memset(below, 0, row * sizeof *below);
        map_row(&in, pixels + y * width, width, dithers && (y & 1), transparent, here, below, indices + y * width);
    }
    free(errors);
    free(in.nearest);
    return is_done;
}

void wi_gif_threshold(const uint8_t *straight, size_t count, uint32_t *pixels) {
    for (size_t at = 0; at < count; at++) {
        uint8_t value[4];
        memcpy(value, straight + at * 4, 4);
        if (value[3] < 128) {
            pixels[at] = 0;
            continue;
        }
        value[3] = 255;
        memcpy(&pixels[at], value, 4);
    }
}
