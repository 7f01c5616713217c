// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CWebImageGTK.h"

#include <gtk/gtk.h>

G_DECLARE_FINAL_TYPE(WiGtkBackdrop, wi_gtk_backdrop, WI_GTK, BACKDROP, GtkWidget)

struct _WiGtkBackdrop {
    GtkWidget parent_instance;
    GtkWidget *child;
    void (*draw)(void *context, void *snapshot, double width, double height);
    void *context;
};

G_DEFINE_TYPE(WiGtkBackdrop, wi_gtk_backdrop, GTK_TYPE_WIDGET)

static void wi_gtk_backdrop_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
    WiGtkBackdrop *self = WI_GTK_BACKDROP(widget);
    if (self->draw)
        self->draw(self->context, snapshot, gtk_widget_get_width(widget), gtk_widget_get_height(widget));
    GTK_WIDGET_CLASS(wi_gtk_backdrop_parent_class)->snapshot(widget, snapshot);
}

static void wi_gtk_backdrop_dispose(GObject *object) {
    WiGtkBackdrop *self = WI_GTK_BACKDROP(object);
    self->draw = NULL;
    g_clear_pointer(&self->child, gtk_widget_unparent);
    G_OBJECT_CLASS(wi_gtk_backdrop_parent_class)->dispose(object);
}

static void wi_gtk_backdrop_class_init(WiGtkBackdropClass *klass) {
    GTK_WIDGET_CLASS(klass)->snapshot = wi_gtk_backdrop_snapshot;
    G_OBJECT_CLASS(klass)->dispose = wi_gtk_backdrop_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
}

static void wi_gtk_backdrop_init(WiGtkBackdrop *self) { (void)self; }

void *wi_gtk_backdrop_new(void (*snapshot)(void *, void *, double, double), void *context) {
    WiGtkBackdrop *self = g_object_new(wi_gtk_backdrop_get_type(), NULL);
    self->draw = snapshot;
    self->context = context;
    return self;
}

void wi_gtk_backdrop_set_child(void *backdrop, void *child) {
    WiGtkBackdrop *self = WI_GTK_BACKDROP(backdrop);
    g_clear_pointer(&self->child, gtk_widget_unparent);
    if (child) gtk_widget_set_parent(self->child = GTK_WIDGET(child), GTK_WIDGET(self));
}

void wi_gtk_backdrop_disconnect(void *backdrop) {
    WiGtkBackdrop *self = WI_GTK_BACKDROP(backdrop);
    self->draw = NULL;
    self->context = NULL;
}
#endif
