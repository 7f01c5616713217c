// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK

    /// What kinds of widget take pictures, and how.
    @MainActor
    enum WidgetKind {
        /// Whether a GObject is of a class, or of one derived from it. The pointer must be one of a GObject.
        static func isA(_ object: UnsafeMutableRawPointer, _ type: GType) -> Bool {
            g_type_check_instance_is_a(object.assumingMemoryBound(to: GTypeInstance.self), type) != 0
        }

        /// How pictures get into `widget`, and how it fits them; nil for a class that takes none.
        static func chrome(for widget: UnsafeMutablePointer<GtkWidget>) -> (any WidgetChrome, ContentFit)? {
            let raw = UnsafeMutableRawPointer(widget)
            if isA(raw, gtk_picture_get_type()) {
                let fit = ContentFit(rawValue: Int(wi_gtk_picture_fit(raw))) ?? .contain
                // The stage fits by itself: what it draws besides the picture is to have all of the place.
                wi_gtk_picture_set_fill(raw)
                return (PaintableChrome { gtk_picture_set_paintable(OpaquePointer(raw), $0) }, fit)
            }
            if isA(raw, gtk_image_get_type()) {
                return (PaintableChrome { gtk_image_set_from_paintable(OpaquePointer(raw), $0) }, .contain)
            }
            if isA(raw, gtk_button_get_type()) {
                let button = raw.assumingMemoryBound(to: GtkButton.self)
                return (
                    ButtonChrome(
                        widget, child: { gtk_button_get_child(button) }, setChild: { gtk_button_set_child(button, $0) }),
                    .contain
                )
            }
            if isA(raw, gtk_menu_button_get_type()) {
                return (
                    ButtonChrome(
                        widget, child: { wi_gtk_menu_button_child(raw)?.assumingMemoryBound(to: GtkWidget.self) },
                        setChild: { _ = wi_gtk_menu_button_set_child(raw, $0) }),
                    .contain
                )
            }
            return nil
        }
    }
#endif
