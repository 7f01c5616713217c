// SPDX-License-Identifier: MIT
// Functions of GTK 4 that Swift can't call: class definitions, functions that older versions lack, varargs, and the
// main queue of libdispatch. This header doesn't include GTK, because a second module with all of GTK would double the
// build time.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Returns whether the calling thread is the initial thread of the process.
bool wi_gtk_is_process_main_thread(void);

/// Creates a GSource that runs the pending work of libdispatch's main queue, which includes the work of the main
/// actor. The caller must unreference it.
void *wi_gtk_main_queue_source_new(void);

/// Returns how often that source has run. Call this function on the main thread.
unsigned long wi_gtk_main_queue_dispatches(void);

/// The callbacks of a paintable. All of them run on the drawing thread.
typedef struct {
    void (*snapshot)(void *context, void *snapshot, double width, double height);
    int (*width)(void *context);
    int (*height)(void *context);
    /// Returns the width divided by the height, or 0 if there's no aspect ratio.
    double (*ratio)(void *context);
    /// Releases the context. Called once, when the paintable is finalized.
    void (*destroy)(void *context);
} wi_gtk_paintable_functions;

/// Creates a GdkPaintable that draws with `functions`, which must outlive it. The caller must unreference it.
void *wi_gtk_paintable_new(const wi_gtk_paintable_functions *functions, void *context);

/// Creates a GtkWidget (with a floating reference) that contains one child. The callback `snapshot` draws below the
/// child and may draw outside the bounds of the widget.
void *wi_gtk_backdrop_new(void (*snapshot)(void *context, void *snapshot, double width, double height), void *context);

/// Sets the child and replaces the previous one. NULL removes the child.
void wi_gtk_backdrop_set_child(void *backdrop, void *child);

/// Stops a backdrop from drawing, and discards its context.
void wi_gtk_backdrop_disconnect(void *backdrop);

/// Returns the GtkContentFit of a GtkPicture (GTK 4.8). In older versions, the result is 0 for fill and another value
/// for contain.
int wi_gtk_picture_fit(void *picture);

/// Makes a GtkPicture stretch its paintable to its bounds.
void wi_gtk_picture_set_fill(void *picture);

/// Draws an icon of the icon theme of the default display at the origin of a GtkSnapshot, with a side of `side` points.
/// `color` contains the red, green, blue, and alpha components from 0 to 1, in which symbolic icons are drawn (GTK 4.6).
void wi_gtk_snapshot_icon(
    void *snapshot, const char *name, double side, int scale, bool is_right_to_left, const float *color);

/// Returns the child of a GtkMenuButton (GTK 4.6). In older versions, the result is NULL.
void *wi_gtk_menu_button_child(void *button);

/// Sets the child of a GtkMenuButton (GTK 4.6). In older versions, the result is `false`.
bool wi_gtk_menu_button_set_child(void *button, void *child);

/// Sets the accessible label and description of a GtkWidget. NULL resets a text.
void wi_gtk_set_accessible_text(void *widget, const char *label, const char *description);

/// Notifies assistive technologies whether a GtkWidget is busy.
void wi_gtk_set_accessible_busy(void *widget, bool busy);

/// Returns the value of a Boolean property of a GObject, or `otherwise` if there's no such property.
bool wi_gtk_flag(void *object, const char *name, bool otherwise);

/// The callbacks of the widgets of the class WebImagePicture. All of them run on the main thread.
typedef struct {
    /// Prepares a new widget, whose properties have their default values.
    void (*constructed)(void *widget);
    /// Apply a property that has changed. A text is NULL if the property has no value.
    void (*set_uri)(void *widget, const char *uri);
    void (*set_alternative_text)(void *widget, const char *text);
    void (*set_content_fit)(void *widget, int fit);
    void (*set_corner_radius)(void *widget, double radius);
} wi_gtk_web_picture_functions;

/// Registers the widget class WebImagePicture and returns its GType. `functions` must stay valid until the process ends.
/// Only the first call uses it.
unsigned long wi_gtk_web_picture_register(const wi_gtk_web_picture_functions *functions);

/// Sets the GdkPaintable that a WebImagePicture shows. Does nothing after the widget was disposed.
void wi_gtk_web_picture_set_paintable(void *picture, void *paintable);

/// Announces a message to the users of assistive technologies (GTK 4.14). Does nothing in older versions.
void wi_gtk_announce(void *widget, const char *message);

/// Returns a copy of a string property of a GObject, or NULL if there's no such property. The caller must free it with
/// g_free().
char *wi_gtk_string(void *object, const char *name);

/// Pixels for a GdkTexture.
typedef struct {
    /// The GBytes with all rows.
    void *bytes;
    int width;
    int height;
    /// The number of bytes per row.
    size_t stride;
    /// The GdkMemoryFormat.
    int format;
} wi_gtk_pixels;

/// The code points of a color space (ITU-T H.273) whose samples are RGB in the full range.
typedef struct {
    unsigned primaries;
    unsigned transfer;
} wi_gtk_color;

/// Returns whether GTK has color states, which exist since version 4.16, and supports one with these code points.
///
/// `lookup` is that of wi_gtk_colored_texture.
bool wi_gtk_has_color_state(wi_gtk_color color, void *(*lookup)(const char *name));
/// Creates a GdkTexture in a color space. The result is NULL if GTK is older than 4.16, which has no color states, or if it
/// doesn't support the color space.
///
/// `lookup` returns the function with a name, or NULL if there's none. It's NULL for the functions of the process.
void *wi_gtk_colored_texture(const wi_gtk_pixels *pixels, wi_gtk_color color, void *(*lookup)(const char *name));
