// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CWebImageGTK.h"

#include <gtk/gtk.h>

G_DECLARE_FINAL_TYPE(WiGtkPaintable, wi_gtk_paintable, WI_GTK, PAINTABLE, GObject)

struct _WiGtkPaintable {
    GObject parent_instance;
    const wi_gtk_paintable_functions *functions;
    void *context;
};

static void wi_gtk_paintable_snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height) {
    WiGtkPaintable *self = WI_GTK_PAINTABLE(paintable);
    if (self->functions) self->functions->snapshot(self->context, snapshot, width, height);
}

static int wi_gtk_paintable_width(GdkPaintable *paintable) {
    WiGtkPaintable *self = WI_GTK_PAINTABLE(paintable);
    return self->functions ? self->functions->width(self->context) : 0;
}

static int wi_gtk_paintable_height(GdkPaintable *paintable) {
    WiGtkPaintable *self = WI_GTK_PAINTABLE(paintable);
    return self->functions ? self->functions->height(self->context) : 0;
}

static double wi_gtk_paintable_ratio(GdkPaintable *paintable) {
    WiGtkPaintable *self = WI_GTK_PAINTABLE(paintable);
    return self->functions ? self->functions->ratio(self->context) : 0;
}

static void wi_gtk_paintable_iface_init(GdkPaintableInterface *iface) {
    iface->snapshot = wi_gtk_paintable_snapshot;
    iface->get_intrinsic_width = wi_gtk_paintable_width;
    iface->get_intrinsic_height = wi_gtk_paintable_height;
    iface->get_intrinsic_aspect_ratio = wi_gtk_paintable_ratio;
}

G_DEFINE_TYPE_WITH_CODE(WiGtkPaintable, wi_gtk_paintable, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, wi_gtk_paintable_iface_init))

static void wi_gtk_paintable_finalize(GObject *object) {
    WiGtkPaintable *self = WI_GTK_PAINTABLE(object);
    const wi_gtk_paintable_functions *functions = self->functions;
    self->functions = NULL;
    if (functions) functions->destroy(self->context);
    G_OBJECT_CLASS(wi_gtk_paintable_parent_class)->finalize(object);
}

static void wi_gtk_paintable_class_init(WiGtkPaintableClass *klass) {
    G_OBJECT_CLASS(klass)->finalize = wi_gtk_paintable_finalize;
}

static void wi_gtk_paintable_init(WiGtkPaintable *self) { (void)self; }

void *wi_gtk_paintable_new(const wi_gtk_paintable_functions *functions, void *context) {
    WiGtkPaintable *self = g_object_new(wi_gtk_paintable_get_type(), NULL);
    self->functions = functions;
    self->context = context;
    return self;
}
#endif
