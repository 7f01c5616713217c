// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <poppler.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "CPDF.h"

struct wi_pdf_document {
    PopplerDocument *document;
    uint32_t pages;
};

static void silence(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer user) {
    (void)domain, (void)level, (void)message, (void)user;
}

/// Disables poppler's messages about corrupt files, which would appear on the terminal.
static void prepare(void) {
    g_log_set_handler("Poppler", (GLogLevelFlags)(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_DEBUG),
                      silence, NULL);
}

wi_pdf_status wi_pdf_open(const uint8_t *data, size_t count, uint32_t *pages, char *message, size_t room,
                          wi_pdf_document **result) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    wi_pdf_document *own = calloc(1, sizeof *own);
    if (!own) return WI_PDF_MEMORY;
    *result = own;
    GError *error = NULL;
    GBytes *bytes = g_bytes_new_static(data, count);
    own->document = poppler_document_new_from_bytes(bytes, NULL, &error);
    g_bytes_unref(bytes);
    if (!own->document) {
        int is_encrypted = error && error->domain == POPPLER_ERROR && error->code == POPPLER_ERROR_ENCRYPTED;
        snprintf(message, room, "%s", error && error->message ? error->message : "poppler can't open it");
        g_clear_error(&error);
        return is_encrypted ? WI_PDF_ENCRYPTED : WI_PDF_CORRUPT;
    }
    int found = poppler_document_get_n_pages(own->document);
    own->pages = *pages = found > 0 ? (uint32_t)found : 0;
    return WI_PDF_OK;
}

void wi_pdf_close(wi_pdf_document *own) {
    if (!own) return;
    if (own->document) g_object_unref(own->document);
    free(own);
}

int wi_pdf_size(wi_pdf_document *own, uint32_t index, double *width, double *height) {
    PopplerPage *page = index < own->pages ? poppler_document_get_page(own->document, (int)index) : NULL;
    if (!page) return 0;
    poppler_page_get_size(page, width, height);
    g_object_unref(page);
    return 1;
}

/// Reorders cairo's pixels, which are 32-bit numbers with alpha in the highest bits. On paper, all pixels are opaque.
static void reorder(uint8_t *out, size_t stride, uint32_t width, uint32_t height) {
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = out + (size_t)y * stride;
        for (uint32_t x = 0; x < width; x++) {
            uint32_t pixel = ((uint32_t *)row)[x];
            row[x * 4] = (uint8_t)(pixel >> 16);
            row[x * 4 + 1] = (uint8_t)(pixel >> 8);
            row[x * 4 + 2] = (uint8_t)pixel;
            row[x * 4 + 3] = 255;
        }
    }
}

wi_pdf_status wi_pdf_draw(wi_pdf_document *own, uint32_t index, uint32_t width, uint32_t height, uint8_t *out,
                          size_t stride) {
    double page_width = 0, page_height = 0;
    if (!wi_pdf_size(own, index, &page_width, &page_height) || page_width <= 0 || page_height <= 0)
        return WI_PDF_CORRUPT;
    PopplerPage *page = poppler_document_get_page(own->document, (int)index);
    if (!page) return WI_PDF_CORRUPT;
    cairo_surface_t *surface =
        cairo_image_surface_create_for_data(out, CAIRO_FORMAT_ARGB32, (int)width, (int)height, (int)stride);
    cairo_t *canvas = cairo_create(surface);
    wi_pdf_status status = cairo_status(canvas) == CAIRO_STATUS_SUCCESS ? WI_PDF_OK : WI_PDF_MEMORY;
    if (status == WI_PDF_OK) {
        cairo_set_source_rgb(canvas, 1, 1, 1);
        cairo_paint(canvas);
        cairo_scale(canvas, width / page_width, height / page_height);
        poppler_page_render(page, canvas);
        if (cairo_status(canvas) == CAIRO_STATUS_NO_MEMORY) status = WI_PDF_MEMORY;
    }
    cairo_destroy(canvas);
    cairo_surface_flush(surface);
    cairo_surface_destroy(surface);
    g_object_unref(page);
    if (status == WI_PDF_OK) reorder(out, stride, width, height);
    return status;
}

const char *wi_pdf_version(void) { return poppler_get_version(); }
#endif
