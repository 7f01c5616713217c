// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CWebImageGTK.h"

#include <gtk/gtk.h>

// GtkPicture is final, so the class is a widget with a GtkPicture as its only child.
G_DECLARE_FINAL_TYPE(WebImagePicture, web_image_picture, WEB_IMAGE, PICTURE, GtkWidget)

struct _WebImagePicture {
    GtkWidget parent_instance;
    GtkWidget *child;
    char *uri;
    char *alternative_text;
    GtkContentFit content_fit;
    double corner_radius;
};

G_DEFINE_TYPE(WebImagePicture, web_image_picture, GTK_TYPE_WIDGET)

enum { PROP_URI = 1, PROP_ALTERNATIVE_TEXT, PROP_CONTENT_FIT, PROP_CORNER_RADIUS, PROP_COUNT };

// Both are written once on the main thread, before the first instance is created.
static GParamSpec *properties[PROP_COUNT];
static const wi_gtk_web_picture_functions *functions;

static void web_image_picture_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    WebImagePicture *self = WEB_IMAGE_PICTURE(object);
    switch (id) {
    case PROP_URI: g_value_set_string(value, self->uri); break;
    case PROP_ALTERNATIVE_TEXT: g_value_set_string(value, self->alternative_text); break;
    case PROP_CONTENT_FIT: g_value_set_enum(value, (gint)self->content_fit); break;
    case PROP_CORNER_RADIUS: g_value_set_double(value, self->corner_radius); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static gboolean replace(char **text, const GValue *value) {
    if (g_strcmp0(*text, g_value_get_string(value)) == 0) return FALSE;
    g_free(*text);
    *text = g_value_dup_string(value);
    return TRUE;
}

static void web_image_picture_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    WebImagePicture *self = WEB_IMAGE_PICTURE(object);
    switch (id) {
    case PROP_URI:
        if (!replace(&self->uri, value)) return;
        functions->set_uri(self, self->uri);
        break;
    case PROP_ALTERNATIVE_TEXT:
        if (!replace(&self->alternative_text, value)) return;
        functions->set_alternative_text(self, self->alternative_text);
        break;
    case PROP_CONTENT_FIT:
        if (self->content_fit == (GtkContentFit)g_value_get_enum(value)) return;
        self->content_fit = (GtkContentFit)g_value_get_enum(value);
        functions->set_content_fit(self, (int)self->content_fit);
        break;
    case PROP_CORNER_RADIUS:
        if (self->corner_radius == g_value_get_double(value)) return;
        self->corner_radius = g_value_get_double(value);
        functions->set_corner_radius(self, self->corner_radius);
        break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); return;
    }
    g_object_notify_by_pspec(object, spec);
}

static void web_image_picture_constructed(GObject *object) {
    G_OBJECT_CLASS(web_image_picture_parent_class)->constructed(object);
    functions->constructed(object);
}

static void web_image_picture_dispose(GObject *object) {
    WebImagePicture *self = WEB_IMAGE_PICTURE(object);
    // The dispose function of GtkWidget emits `destroy`, which cancels the load.
    G_OBJECT_CLASS(web_image_picture_parent_class)->dispose(object);
    g_clear_pointer(&self->child, gtk_widget_unparent);
}

static void web_image_picture_finalize(GObject *object) {
    WebImagePicture *self = WEB_IMAGE_PICTURE(object);
    g_free(self->uri);
    g_free(self->alternative_text);
    G_OBJECT_CLASS(web_image_picture_parent_class)->finalize(object);
}

static void web_image_picture_class_init(WebImagePictureClass *klass) {
    GObjectClass *object = G_OBJECT_CLASS(klass);
    object->get_property = web_image_picture_get_property;
    object->set_property = web_image_picture_set_property;
    object->constructed = web_image_picture_constructed;
    object->dispose = web_image_picture_dispose;
    object->finalize = web_image_picture_finalize;
    GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
    properties[PROP_URI] = g_param_spec_string("uri", NULL, NULL, NULL, flags);
    properties[PROP_ALTERNATIVE_TEXT] = g_param_spec_string("alternative-text", NULL, NULL, NULL, flags);
    properties[PROP_CONTENT_FIT] =
        g_param_spec_enum("content-fit", NULL, NULL, GTK_TYPE_CONTENT_FIT, GTK_CONTENT_FIT_CONTAIN, flags);
    properties[PROP_CORNER_RADIUS] = g_param_spec_double("corner-radius", NULL, NULL, 0, 1e6, 0, flags);
    g_object_class_install_properties(object, PROP_COUNT, properties);
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "webimagepicture");
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(klass), GTK_ACCESSIBLE_ROLE_IMG);
}

static void web_image_picture_init(WebImagePicture *self) {
    self->content_fit = GTK_CONTENT_FIT_CONTAIN;
    // Only this widget represents the image for assistive technologies.
    self->child = g_object_new(GTK_TYPE_PICTURE, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, "content-fit",
                               GTK_CONTENT_FIT_FILL, "can-target", FALSE, NULL);
    gtk_widget_set_parent(self->child, GTK_WIDGET(self));
}

unsigned long wi_gtk_web_picture_register(const wi_gtk_web_picture_functions *table) {
    if (!functions) functions = table;
    GType type = web_image_picture_get_type();
    g_type_ensure(type);
    return type;
}

void wi_gtk_web_picture_set_paintable(void *picture, void *paintable) {
    WebImagePicture *self = WEB_IMAGE_PICTURE(picture);
    if (self->child) gtk_picture_set_paintable(GTK_PICTURE(self->child), paintable);
}
#endif
