// SPDX-License-Identifier: MIT
#include <string.h>
#include "CGIF.h"

/// Returns the position of the `n`th row of the data in an interlaced frame, which has four passes (GIF89a, appendix
/// E).
static size_t interlaced_row(size_t n, size_t height) {
    static const size_t first[4] = {0, 4, 2, 1}, step[4] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4; pass++) {
        size_t rows = height > first[pass] ? (height - first[pass] + step[pass] - 1) / step[pass] : 0;
        if (n < rows) return first[pass] + n * step[pass];
        n -= rows;
    }
    return height;
}

static size_t draw_row(const uint8_t *indices, size_t count, const uint32_t *palette, const wi_gif_place *place,
                       uint8_t *out) {
    size_t drawn = 0;
    if (place->transparent < 0 && place->colours >= 256) {
        for (size_t x = 0; x < count; x++) memcpy(out + x * 4, &palette[indices[x]], 4);
        return count;
    }
    for (size_t x = 0; x < count; x++) {
        unsigned index = indices[x];
        if ((int)index == place->transparent || index >= place->colours) continue;
        memcpy(out + x * 4, &palette[index], 4);
        drawn++;
    }
    return drawn;
}

size_t wi_gif_draw(const uint8_t *indices, size_t done, const uint32_t *palette, const wi_gif_place *place,
                   uint8_t *canvas, size_t stride) {
    size_t drawn = 0;
    for (size_t n = 0; n < place->height && n * place->width < done; n++) {
        size_t row = place->is_interlaced ? interlaced_row(n, place->height) : n;
        if (row >= place->rows) continue;
        size_t present = done - n * place->width;
        size_t count = place->columns < present ? place->columns : present;
        uint8_t *out = canvas + (place->y + row) * stride + place->x * 4;
        drawn += draw_row(indices + n * place->width, count, palette, place, out);
    }
    return drawn;
}
