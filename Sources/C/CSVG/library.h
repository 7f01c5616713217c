// SPDX-License-Identifier: MIT
// The functions of librsvg that this module calls.
#pragma once
#include <CDynamicLibrary.h>
#include <stddef.h>
#include <stdint.h>

// The declarations are those of librsvg 2.50 and later, cairo 1.2 and later, and GLib 2.0 and later. The headers of these
// libraries would require flags of pkg-config, with which SwiftPM also links the libraries.
typedef struct _GError {
    uint32_t domain;
    int code;
    char *message;
} GError;
typedef struct _RsvgHandle RsvgHandle;
typedef struct {
    double x, y, width, height;
} RsvgRectangle;
typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;
enum { CAIRO_STATUS_SUCCESS = 0, CAIRO_FORMAT_ARGB32 = 0 };

void g_clear_error(GError **error);
void g_object_unref(void *object);
extern const unsigned rsvg_major_version, rsvg_minor_version, rsvg_micro_version;
RsvgHandle *rsvg_handle_new_from_data(const uint8_t *data, size_t count, GError **error);
int rsvg_handle_render_document(RsvgHandle *handle, cairo_t *canvas, const RsvgRectangle *viewport, GError **error);
void rsvg_handle_set_dpi(RsvgHandle *handle, double dpi);
cairo_t *cairo_create(cairo_surface_t *surface);
void cairo_destroy(cairo_t *canvas);
int cairo_status(cairo_t *canvas);
const char *cairo_status_to_string(int status);
cairo_surface_t *cairo_image_surface_create_for_data(uint8_t *data, int format, int width, int height, int stride);
void cairo_surface_flush(cairo_surface_t *surface);
void cairo_surface_destroy(cairo_surface_t *surface);

#define LIBRSVG_FUNCTIONS(X)                                                                                           \
    X(cairo_create) X(cairo_destroy) X(cairo_image_surface_create_for_data) X(cairo_status)                            \
    X(cairo_status_to_string) X(cairo_surface_destroy) X(cairo_surface_flush) X(g_clear_error) X(g_object_unref)       \
    X(rsvg_handle_new_from_data) X(rsvg_handle_render_document) X(rsvg_handle_set_dpi) \
    X(rsvg_major_version) X(rsvg_micro_version) X(rsvg_minor_version)

WI_LIBRARY_TABLE(librsvg, LIBRSVG_FUNCTIONS)
