// SPDX-License-Identifier: MIT
// The functions of libpoppler that this module calls.
#pragma once
#include <CDynamicLibrary.h>
#include <stddef.h>
#include <stdint.h>

// The declarations are those of poppler 0.82 and later, cairo 1.2 and later, and GLib 2.32 and later. The headers of these
// libraries would require flags of pkg-config, with which SwiftPM also links the libraries.
typedef struct _GError {
    uint32_t domain;
    int code;
    char *message;
} GError;
typedef struct _GBytes GBytes;
typedef struct _PopplerDocument PopplerDocument;
typedef struct _PopplerPage PopplerPage;
typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;
typedef void (*GLogFunc)(const char *domain, int level, const char *message, void *user);
enum { CAIRO_STATUS_SUCCESS = 0, CAIRO_STATUS_NO_MEMORY = 1, CAIRO_FORMAT_ARGB32 = 0 };
enum { G_LOG_LEVEL_WARNING = 1 << 4, G_LOG_LEVEL_MESSAGE = 1 << 5, G_LOG_LEVEL_DEBUG = 1 << 7 };
enum { POPPLER_ERROR_ENCRYPTED = 1 };

void g_clear_error(GError **error);
void g_object_unref(void *object);
GBytes *g_bytes_new_static(const void *data, size_t count);
void g_bytes_unref(GBytes *bytes);
unsigned g_log_set_handler(const char *domain, int levels, GLogFunc handler, void *user);
PopplerDocument *poppler_document_new_from_bytes(GBytes *bytes, const char *password, GError **error);
int poppler_document_get_n_pages(PopplerDocument *document);
PopplerPage *poppler_document_get_page(PopplerDocument *document, int index);
uint32_t poppler_error_quark(void);
const char *poppler_get_version(void);
void poppler_page_get_size(PopplerPage *page, double *width, double *height);
void poppler_page_render(PopplerPage *page, cairo_t *canvas);
cairo_t *cairo_create(cairo_surface_t *surface);
void cairo_destroy(cairo_t *canvas);
int cairo_status(cairo_t *canvas);
void cairo_paint(cairo_t *canvas);
void cairo_scale(cairo_t *canvas, double x, double y);
void cairo_set_source_rgb(cairo_t *canvas, double red, double green, double blue);
cairo_surface_t *cairo_image_surface_create_for_data(uint8_t *data, int format, int width, int height, int stride);
void cairo_surface_flush(cairo_surface_t *surface);
void cairo_surface_destroy(cairo_surface_t *surface);

#define LIBPOPPLER_FUNCTIONS(X)                                                                                        \
    X(cairo_create) X(cairo_destroy) X(cairo_image_surface_create_for_data) X(cairo_paint) X(cairo_scale)              \
    X(cairo_set_source_rgb) X(cairo_status) X(cairo_surface_destroy) X(cairo_surface_flush) X(g_bytes_new_static)      \
    X(g_bytes_unref) X(g_clear_error) X(g_log_set_handler) X(g_object_unref) X(poppler_document_get_n_pages)           \
    X(poppler_document_get_page) X(poppler_document_new_from_bytes) X(poppler_error_quark) X(poppler_get_version)      \
    X(poppler_page_get_size) X(poppler_page_render)

WI_LIBRARY_TABLE(libpoppler, LIBPOPPLER_FUNCTIONS)
