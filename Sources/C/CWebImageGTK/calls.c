// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CWebImageGTK.h"

#include <gtk/gtk.h>

int wi_gtk_picture_fit(void *picture) {
#if GTK_CHECK_VERSION(4, 8, 0)
    return (int)gtk_picture_get_content_fit(GTK_PICTURE(picture));
#else
    return gtk_picture_get_keep_aspect_ratio(GTK_PICTURE(picture)) ? 1 : 0;
#endif
}

void wi_gtk_picture_set_fill(void *picture) {
#if GTK_CHECK_VERSION(4, 8, 0)
    gtk_picture_set_content_fit(GTK_PICTURE(picture), GTK_CONTENT_FIT_FILL);
#else
    gtk_picture_set_keep_aspect_ratio(GTK_PICTURE(picture), FALSE);
#endif
}

void wi_gtk_snapshot_icon(
    void *snapshot, const char *name, double side, int scale, bool is_right_to_left, const float *color) {
    GdkDisplay *display = gdk_display_get_default();
    if (!display) return;
    GtkTextDirection direction = is_right_to_left ? GTK_TEXT_DIR_RTL : GTK_TEXT_DIR_LTR;
    GtkIconPaintable *icon = gtk_icon_theme_lookup_icon(
        gtk_icon_theme_get_for_display(display), name, NULL, (int)side, scale, direction, 0);
#if GTK_CHECK_VERSION(4, 6, 0)
    GdkRGBA rgba = {color[0], color[1], color[2], color[3]};
    gtk_symbolic_paintable_snapshot_symbolic(GTK_SYMBOLIC_PAINTABLE(icon), snapshot, side, side, &rgba, 1);
#else
    (void)color;
    gdk_paintable_snapshot(GDK_PAINTABLE(icon), snapshot, side, side);
#endif
    g_object_unref(icon);
}

void *wi_gtk_menu_button_child(void *button) {
#if GTK_CHECK_VERSION(4, 6, 0)
    return gtk_menu_button_get_child(GTK_MENU_BUTTON(button));
#else
    return NULL;
#endif
}

bool wi_gtk_menu_button_set_child(void *button, void *child) {
#if GTK_CHECK_VERSION(4, 6, 0)
    gtk_menu_button_set_child(GTK_MENU_BUTTON(button), child ? GTK_WIDGET(child) : NULL);
    return true;
#else
    return false;
#endif
}

static void set_text(GtkAccessible *accessible, GtkAccessibleProperty property, const char *text) {
    if (text)
        gtk_accessible_update_property(accessible, property, text, -1);
    else
        gtk_accessible_reset_property(accessible, property);
}

void wi_gtk_set_accessible_text(void *widget, const char *label, const char *description) {
    set_text(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label);
    set_text(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description);
}

void wi_gtk_set_accessible_busy(void *widget, bool busy) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_BUSY, (gboolean)busy, -1);
}

void wi_gtk_announce(void *widget, const char *message) {
#if GTK_CHECK_VERSION(4, 14, 0)
    gtk_accessible_announce(GTK_ACCESSIBLE(widget), message, GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM);
#else
    (void)widget;
    (void)message;
#endif
}

char *wi_gtk_string(void *object, const char *name) {
    GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
    if (!property || property->value_type != G_TYPE_STRING) return NULL;
    char *value = NULL;
    g_object_get(object, name, &value, NULL);
    return value;
}

bool wi_gtk_flag(void *object, const char *name, bool otherwise) {
    GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
    if (!property || property->value_type != G_TYPE_BOOLEAN) return otherwise;
    gboolean value = FALSE;
    g_object_get(object, name, &value, NULL);
    return value;
}
#endif
