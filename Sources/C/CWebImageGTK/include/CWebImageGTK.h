// SPDX-License-Identifier: MIT
// What Swift cannot call of GTK 4: class definitions, calls that older versions lack, varargs, libdispatch's main queue.
// GTK's types stay out of this header: a second module with all of GTK in it would double the time of builds.
#pragma once
#include <stdbool.h>

/// Whether the calling thread is the one that the process began with.
bool wi_gtk_is_process_main_thread(void);

/// A GSource (to be unreferenced) that runs what waits in libdispatch's main queue, and with it the main actor's work.
void *wi_gtk_main_queue_source_new(void);

/// How often that source has run. On the main thread.
unsigned long wi_gtk_main_queue_dispatches(void);

/// What a paintable asks its context. All are called on the thread that draws.
typedef struct {
    void (*snapshot)(void *context, void *snapshot, double width, double height);
    int (*width)(void *context);
    int (*height)(void *context);
    /// Width / height; 0 for none.
    double (*ratio)(void *context);
    /// Called once, when the paintable is finalized.
    void (*destroy)(void *context);
} wi_gtk_paintable_functions;

/// A GdkPaintable (to be unreferenced) that draws what `functions` say; they must outlive it.
void *wi_gtk_paintable_new(const wi_gtk_paintable_functions *functions, void *context);

/// A GtkWidget (floating) that holds one child and draws, beneath it and beyond its own bounds if it likes, what
/// `snapshot` says.
void *wi_gtk_backdrop_new(void (*snapshot)(void *context, void *snapshot, double width, double height), void *context);

/// Puts `child` in, instead of the one before; null for none.
void wi_gtk_backdrop_set_child(void *backdrop, void *child);

/// Makes a backdrop draw nothing any more and forget its context.
void wi_gtk_backdrop_disconnect(void *backdrop);

/// How a GtkPicture fits its paintable, as GtkContentFit (GTK 4.8); before, 0 is fill and all others contain.
int wi_gtk_picture_fit(void *picture);

/// Lets a GtkPicture give all its place to its paintable.
void wi_gtk_picture_set_fill(void *picture);

/// The child of a GtkMenuButton (GTK 4.6); null before.
void *wi_gtk_menu_button_child(void *button);

/// Sets the child of a GtkMenuButton (GTK 4.6); false before.
bool wi_gtk_menu_button_set_child(void *button, void *child);

/// Sets the accessible label and description of a GtkWidget; null resets.
void wi_gtk_set_accessible_text(void *widget, const char *label, const char *description);

/// Tells assistive technologies whether a GtkWidget is busy.
void wi_gtk_set_accessible_busy(void *widget, bool busy);

/// Whether a boolean property of a GObject is set; `otherwise` where there is none of that name.
bool wi_gtk_flag(void *object, const char *name, bool otherwise);
