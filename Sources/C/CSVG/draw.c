// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <stdio.h>
#include "CSVG.h"
#include "library.h"

static void note(GError **error, char *message, size_t room) {
    snprintf(message, room, "%s", *error && (*error)->message ? (*error)->message : "librsvg can't draw it");
    librsvg.g_clear_error(error);
}

/// Reorders cairo's pixels, which are 32-bit numbers with alpha in the highest bits.
static void reorder(uint8_t *out, size_t stride, uint32_t width, uint32_t height) {
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = out + (size_t)y * stride;
        for (uint32_t x = 0; x < width; x++) {
            uint32_t pixel = ((uint32_t *)row)[x];
            row[x * 4] = (uint8_t)(pixel >> 16);
            row[x * 4 + 1] = (uint8_t)(pixel >> 8);
            row[x * 4 + 2] = (uint8_t)pixel;
            row[x * 4 + 3] = (uint8_t)(pixel >> 24);
        }
    }
}

wi_svg_status wi_svg_draw(const uint8_t *text, size_t count, uint32_t width, uint32_t height, uint8_t *out,
                          size_t stride, char *message, size_t room) {
    GError *error = NULL;
    RsvgHandle *handle = librsvg.rsvg_handle_new_from_data(text, count, &error);
    if (!handle) {
        note(&error, message, room);
        return WI_SVG_CORRUPT;
    }
    librsvg.rsvg_handle_set_dpi(handle, 96);
    cairo_surface_t *surface =
        librsvg.cairo_image_surface_create_for_data(out, CAIRO_FORMAT_ARGB32, (int)width, (int)height, (int)stride);
    cairo_t *canvas = librsvg.cairo_create(surface);
    const RsvgRectangle viewport = {0, 0, width, height};
    wi_svg_status status = WI_SVG_OK;
    if (librsvg.cairo_status(canvas) != CAIRO_STATUS_SUCCESS) {
        snprintf(message, room, "%s", librsvg.cairo_status_to_string(librsvg.cairo_status(canvas)));
        status = WI_SVG_MEMORY;
    } else if (!librsvg.rsvg_handle_render_document(handle, canvas, &viewport, &error)) {
        note(&error, message, room);
        status = WI_SVG_CORRUPT;
    }
    librsvg.cairo_destroy(canvas);
    librsvg.cairo_surface_flush(surface);
    librsvg.cairo_surface_destroy(surface);
    librsvg.g_object_unref(handle);
    if (status == WI_SVG_OK) reorder(out, stride, width, height);
    return status;
}

uint32_t wi_svg_version(void) {
    return *librsvg.rsvg_major_version * 1000000 + *librsvg.rsvg_minor_version * 1000 + *librsvg.rsvg_micro_version;
}
#endif
