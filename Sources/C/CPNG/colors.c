// SPDX-License-Identifier: MIT
#include "colors.h"
#include <string.h>

void wi_png_want_colors(png_structp png) {
#ifndef PNG_cICP_SUPPORTED
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, (const png_byte *)"cICP", 1);
#else
    (void)png;
#endif
}

static void read_code_points(png_structp png, png_infop info, wi_png_colors *colors) {
#ifdef PNG_cICP_SUPPORTED
    uint8_t *code = colors->code_points;
    colors->has_code_points = png_get_cICP(png, info, code, code + 1, code + 2, code + 3) != 0;
#else
    png_unknown_chunkp chunks = NULL;
    int count = png_get_unknown_chunks(png, info, &chunks);
    for (int index = 0; index < count; index++) {
        if (memcmp(chunks[index].name, "cICP", 4) || chunks[index].size != 4) continue;
        memcpy(colors->code_points, chunks[index].data, 4);
        colors->has_code_points = 1;
    }
#endif
}

void wi_png_read_colors(png_structp png, png_infop info, wi_png_colors *colors) {
    int intent = 0;
    png_fixed_point gamma = 0, c[8] = {0};
    memset(colors, 0, sizeof *colors);
    read_code_points(png, info, colors);
    colors->is_srgb = png_get_sRGB(png, info, &intent) != 0;
    if (png_get_gAMA_fixed(png, info, &gamma)) colors->gamma = gamma;
    if (png_get_cHRM_fixed(png, info, c, c + 1, c + 2, c + 3, c + 4, c + 5, c + 6, c + 7)) {
        for (int index = 0; index < 8; index++) colors->chromaticities[index] = c[index];
        colors->has_chromaticities = 1;
    }
}
