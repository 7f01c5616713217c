// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <gtk/gtk.h>

#include "CWebImageGTK.h"

/// The functions of GTK 4.16 that this library uses. The program also runs with older versions, so it looks them up.
typedef struct {
    void *(*builder_new)(void);
    void (*set_bytes)(void *, GBytes *);
    void (*set_width)(void *, int);
    void (*set_height)(void *, int);
    void (*set_stride)(void *, gsize);
    void (*set_format)(void *, int);
    void (*set_color_state)(void *, void *);
    void *(*build)(void *);
    void *(*params_new)(void);
    void (*set_primaries)(void *, guint);
    void (*set_transfer)(void *, guint);
    void (*set_matrix)(void *, guint);
    void (*set_range)(void *, int);
    void *(*build_color_state)(void *, GError **);
    void (*color_state_unref)(void *);
} functions;

static void *symbol_of_process(const char *name) { return dlsym(RTLD_DEFAULT, name); }

/// Looks up all functions. Returns whether all of them exist.
static bool find(void *(*lookup)(const char *), functions *found) {
    const struct {
        const char *name;
        void **function;
    } wanted[] = {
        {"gdk_memory_texture_builder_new", (void **)&found->builder_new},
        {"gdk_memory_texture_builder_set_bytes", (void **)&found->set_bytes},
        {"gdk_memory_texture_builder_set_width", (void **)&found->set_width},
        {"gdk_memory_texture_builder_set_height", (void **)&found->set_height},
        {"gdk_memory_texture_builder_set_stride", (void **)&found->set_stride},
        {"gdk_memory_texture_builder_set_format", (void **)&found->set_format},
        {"gdk_memory_texture_builder_set_color_state", (void **)&found->set_color_state},
        {"gdk_memory_texture_builder_build", (void **)&found->build},
        {"gdk_cicp_params_new", (void **)&found->params_new},
        {"gdk_cicp_params_set_color_primaries", (void **)&found->set_primaries},
        {"gdk_cicp_params_set_transfer_function", (void **)&found->set_transfer},
        {"gdk_cicp_params_set_matrix_coefficients", (void **)&found->set_matrix},
        {"gdk_cicp_params_set_range", (void **)&found->set_range},
        {"gdk_cicp_params_build_color_state", (void **)&found->build_color_state},
        {"gdk_color_state_unref", (void **)&found->color_state_unref},
    };
    for (size_t index = 0; index < sizeof wanted / sizeof *wanted; index++) {
        *wanted[index].function = lookup(wanted[index].name);
        if (!*wanted[index].function) return false;
    }
    return true;
}

/// Returns a color state, or NULL if GTK doesn't support it.
static void *color_state(const functions *gtk, wi_gtk_color color) {
    void *params = gtk->params_new();
    gtk->set_primaries(params, color.primaries);
    gtk->set_transfer(params, color.transfer);
    gtk->set_matrix(params, 0);
    gtk->set_range(params, 1);
    GError *error = NULL;
    void *state = gtk->build_color_state(params, &error);
    g_clear_error(&error);
    g_object_unref(params);
    return state;
}

bool wi_gtk_has_color_state(wi_gtk_color color, void *(*lookup)(const char *name)) {
    functions gtk;
    if (!find(lookup ? lookup : symbol_of_process, &gtk)) return false;
    void *state = color_state(&gtk, color);
    if (!state) return false;
    gtk.color_state_unref(state);
    return true;
}

void *wi_gtk_colored_texture(const wi_gtk_pixels *pixels, wi_gtk_color color, void *(*lookup)(const char *name)) {
    functions gtk;
    if (!find(lookup ? lookup : symbol_of_process, &gtk)) return NULL;
    void *state = color_state(&gtk, color);
    if (!state) return NULL;
    void *builder = gtk.builder_new();
    gtk.set_bytes(builder, pixels->bytes);
    gtk.set_width(builder, pixels->width);
    gtk.set_height(builder, pixels->height);
    gtk.set_stride(builder, pixels->stride);
    gtk.set_format(builder, pixels->format);
    gtk.set_color_state(builder, state);
    void *texture = gtk.build(builder);
    g_object_unref(builder);
    gtk.color_state_unref(state);
    return texture;
}
#endif
