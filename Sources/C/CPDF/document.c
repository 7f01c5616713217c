// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include "CPDF.h"
#include "library.h"

struct wi_pdf_document {
    PopplerDocument *document;
    uint32_t pages;
};

static void silence(const char *domain, int level, const char *message, void *user) {
    (void)domain, (void)level, (void)message, (void)user;
}

/// Disables poppler's messages about corrupt files, which would appear on the terminal.
static void prepare(void) {
    libpoppler.g_log_set_handler("Poppler", G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_DEBUG,
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
    GBytes *bytes = libpoppler.g_bytes_new_static(data, count);
    own->document = libpoppler.poppler_document_new_from_bytes(bytes, NULL, &error);
    libpoppler.g_bytes_unref(bytes);
    if (!own->document) {
        int is_encrypted = error && error->domain == libpoppler.poppler_error_quark() && error->code == POPPLER_ERROR_ENCRYPTED;
        snprintf(message, room, "%s", error && error->message ? error->message : "poppler can't open it");
        libpoppler.g_clear_error(&error);
        return is_encrypted ? WI_PDF_ENCRYPTED : WI_PDF_CORRUPT;
    }
    int found = libpoppler.poppler_document_get_n_pages(own->document);
    own->pages = *pages = found > 0 ? (uint32_t)found : 0;
    return WI_PDF_OK;
}

void wi_pdf_close(wi_pdf_document *own) {
    if (!own) return;
    if (own->document) libpoppler.g_object_unref(own->document);
    free(own);
}

int wi_pdf_size(wi_pdf_document *own, uint32_t index, double *width, double *height) {
    PopplerPage *page = index < own->pages ? libpoppler.poppler_document_get_page(own->document, (int)index) : NULL;
    if (!page) return 0;
    libpoppler.poppler_page_get_size(page, width, height);
    libpoppler.g_object_unref(page);
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
    PopplerPage *page = libpoppler.poppler_document_get_page(own->document, (int)index);
    if (!page) return WI_PDF_CORRUPT;
    cairo_surface_t *surface =
        libpoppler.cairo_image_surface_create_for_data(out, CAIRO_FORMAT_ARGB32, (int)width, (int)height, (int)stride);
    cairo_t *canvas = libpoppler.cairo_create(surface);
    wi_pdf_status status = libpoppler.cairo_status(canvas) == CAIRO_STATUS_SUCCESS ? WI_PDF_OK : WI_PDF_MEMORY;
    if (status == WI_PDF_OK) {
        libpoppler.cairo_set_source_rgb(canvas, 1, 1, 1);
        libpoppler.cairo_paint(canvas);
        libpoppler.cairo_scale(canvas, width / page_width, height / page_height);
        libpoppler.poppler_page_render(page, canvas);
        if (libpoppler.cairo_status(canvas) == CAIRO_STATUS_NO_MEMORY) status = WI_PDF_MEMORY;
    }
    libpoppler.cairo_destroy(canvas);
    libpoppler.cairo_surface_flush(surface);
    libpoppler.cairo_surface_destroy(surface);
    libpoppler.g_object_unref(page);
    if (status == WI_PDF_OK) reorder(out, stride, width, height);
    return status;
}

wi_pdf_status wi_pdf_inflate(const uint8_t *data, size_t count, size_t limit, uint8_t **output, size_t *output_count) {
    z_stream stream = {0};
    if (count > UINT_MAX || limit > UINT_MAX / 4) return WI_PDF_TOO_LARGE;
    if (inflateInit(&stream) != Z_OK) return WI_PDF_MEMORY;
    stream.next_in = (Bytef *)data;
    stream.avail_in = (uInt)count;
    uint8_t *own = NULL;
    size_t capacity = 0;
    wi_pdf_status status = WI_PDF_OK;
    int result = Z_OK;
    while (result == Z_OK) {
        if (stream.total_out == capacity) {
            // One byte more than the limit shows that there is more data.
            if (capacity > limit) break;
            size_t next = capacity ? capacity * 2 : (count < 1024 ? 4096 : count * 4);
            if (next > limit + 1) next = limit + 1;
            uint8_t *larger = realloc(own, next);
            if (!larger) {
                status = WI_PDF_MEMORY;
                break;
            }
            own = larger;
            capacity = next;
        }
        stream.next_out = own + stream.total_out;
        stream.avail_out = (uInt)(capacity - stream.total_out);
        result = inflate(&stream, Z_NO_FLUSH);
    }
    if (result == Z_MEM_ERROR) status = WI_PDF_MEMORY;
    if (status == WI_PDF_OK && stream.total_out > limit) status = WI_PDF_TOO_LARGE;
    *output_count = status == WI_PDF_OK ? stream.total_out : 0;
    inflateEnd(&stream);
    if (status == WI_PDF_OK) {
        *output = own;
    } else {
        free(own);
    }
    return status;
}

const char *wi_pdf_version(void) { return libpoppler.poppler_get_version(); }
#endif
