// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK

    /// The widget classes that can show images.
    @MainActor
    enum WidgetKind {
        /// Returns whether a GObject is an instance of a class or of a subclass. The pointer must point to a GObject.
        static func isA(_ object: UnsafeMutableRawPointer, _ type: GType) -> Bool {
            g_type_check_instance_is_a(object.assumingMemoryBound(to: GTypeInstance.self), type) != 0
        }

        /// Returns the content fit of a GtkPicture, and makes the widget show its paintable in its full bounds. Returns
        /// `nil` for other widgets.
        ///
        /// The renderer scales the image itself, and everything else that it draws needs the full bounds of the widget.
        static func takePictureFit(_ widget: UnsafeMutablePointer<GtkWidget>) -> ContentFit? {
            let raw = UnsafeMutableRawPointer(widget)
            guard isA(raw, gtk_picture_get_type()) else { return nil }
            let fit = ContentFit(rawValue: Int(wi_gtk_picture_fit(raw))) ?? .contain
            wi_gtk_picture_set_fill(raw)
            return fit
        }

        /// Returns the adapter for `widget` and the default fit of its images, or `nil` if its class can't show images.
        static func adapter(for widget: UnsafeMutablePointer<GtkWidget>) -> (any WidgetAdapter, ContentFit)? {
            let raw = UnsafeMutableRawPointer(widget)
            if let fit = takePictureFit(widget) {
                return (PaintableAdapter { gtk_picture_set_paintable(OpaquePointer(raw), $0) }, fit)
            }
            if isA(raw, gtk_image_get_type()) {
                return (PaintableAdapter { gtk_image_set_from_paintable(OpaquePointer(raw), $0) }, .contain)
            }
            if isA(raw, gtk_button_get_type()) {
                let button = raw.assumingMemoryBound(to: GtkButton.self)
                return (
                    ButtonAdapter(
                        widget, child: { gtk_button_get_child(button) }, setChild: { gtk_button_set_child(button, $0) }),
                    .contain
                )
            }
            if isA(raw, gtk_menu_button_get_type()) {
                return (
                    ButtonAdapter(
                        widget, child: { wi_gtk_menu_button_child(raw)?.assumingMemoryBound(to: GtkWidget.self) },
                        setChild: { _ = wi_gtk_menu_button_set_child(raw, $0) }),
                    .contain
                )
            }
            return nil
        }
    }
#endif
