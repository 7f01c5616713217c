// SPDX-License-Identifier: MIT
#include "survey.h"
#include <stdlib.h>
#include <string.h>

wi_png_survey *wi_png_survey_open(void) {
    wi_png_survey *survey = calloc(1, sizeof *survey);
    if (!survey) return NULL;
    survey->is_gray = true;
    survey->gray_bits = 1;
    return survey;
}

void wi_png_survey_close(wi_png_survey *survey) { free(survey); }

/// Returns the slot that contains `colour`, or the free slot for it. At least three quarters of the slots are always
/// free.
static uint32_t slot_of(const wi_png_survey *survey, uint32_t colour) {
    uint32_t slot = colour * 2654435761u >> 22;
    while (survey->slots[slot] && survey->colours[survey->slots[slot] - 1] != colour) slot = (slot + 1) % SLOTS;
    return slot;
}

int wi_png_survey_find(const wi_png_survey *survey, uint32_t colour) {
    return (int)survey->slots[slot_of(survey, colour)] - 1;
}

static int bits_of(uint8_t gray) { return gray % 255 == 0 ? 1 : gray % 85 == 0 ? 2 : gray % 17 == 0 ? 4 : 8; }

bool wi_png_survey_add(wi_png_survey *survey, const uint8_t *pixels, size_t count) {
    uint32_t before = 0;
    bool has_before = false;
    for (size_t at = 0; at < count; at++, pixels += 4) {
        uint32_t colour;
        memcpy(&colour, pixels, 4);
        if (has_before && colour == before) continue;
        before = colour;
        has_before = true;
        if (survey->is_gray) {
            survey->is_gray = pixels[0] == pixels[1] && pixels[1] == pixels[2];
            int bits = bits_of(pixels[0]);
            if (bits > survey->gray_bits) survey->gray_bits = bits;
        }
        if (survey->count <= MAX_COLOURS) {
            uint32_t slot = slot_of(survey, colour);
            if (!survey->slots[slot]) {
                if (survey->count < MAX_COLOURS) {
                    survey->colours[survey->count] = colour;
                    survey->slots[slot] = (uint16_t)(survey->count + 1);
                }
                survey->count++;
            }
        } else if (!survey->is_gray) {
            return false;
        }
    }
    return true;
}

static size_t rows_size(const wi_png_layout *layout, int bits) {
    return (((size_t)layout->width * (size_t)bits + 7) / 8 + 1) * layout->height;
}

void wi_png_survey_choose(const wi_png_survey *survey, bool is_opaque, bool allows_gray, bool allows_colour,
                          wi_png_layout *layout) {
    bool is_gray = survey->is_gray && allows_gray;
    layout->kind = is_gray ? is_opaque ? WI_PNG_GRAY : WI_PNG_GRAY_ALPHA : is_opaque ? WI_PNG_RGB : WI_PNG_RGBA;
    layout->bits = layout->kind == WI_PNG_GRAY ? survey->gray_bits : 8;
    if (survey->count > MAX_COLOURS || !allows_colour) return;
    static const int channels[] = {1, 2, 3, 4};
    int bits = survey->count <= 2 ? 1 : survey->count <= 4 ? 2 : survey->count <= 16 ? 4 : 8;
    // The palette needs two chunks with names, lengths, and checksums, three bytes per color, and one byte per alpha
    // value.
    size_t palette = rows_size(layout, bits) + 12 + 3 * (size_t)survey->count + (is_opaque ? 0 : 12 + (size_t)survey->count);
    if (palette >= rows_size(layout, channels[layout->kind] * layout->bits)) return;
    layout->kind = WI_PNG_PALETTE;
    layout->bits = bits;
}
