// SPDX-License-Identifier: MIT
#include "CLimits.h"
#include "palette.h"
#include <png.h>
#include <stdlib.h>
#include <string.h>

uint8_t *wi_limit_make_png(const uint8_t *pixels, int width, int height, int isGrey, size_t *count) {
    uint8_t palette[wi_palette_count * 3];
    for (int i = 0; i < wi_palette_count; i++) wi_palette_colour(i, palette + i * 3);
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.format = isGrey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB_COLORMAP;
    image.colormap_entries = isGrey ? 0 : wi_palette_count;
    size_t area = (size_t)width * (size_t)height;
    png_alloc_size_t room = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *samples = malloc(area), *result = malloc(room);
    int isWritten = 0;
    if (samples && result) {
        for (size_t i = 0; i < area; i++) samples[i] = isGrey ? pixels[i * 4 + 1] : wi_palette_entry(pixels + i * 4);
        isWritten = png_image_write_to_memory(&image, result, &room, 0, samples, 0, isGrey ? NULL : palette);
    }
    free(samples);
    if (!isWritten) {
        free(result);
        return NULL;
    }
    *count = room;
    return result;
}
