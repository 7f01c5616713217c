// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageUI

    extension WebImageView {
        /// Creates the view of a widget that Swift imports as an opaque pointer, such as a GtkPicture or a GtkImage.
        ///
        /// The pointer must point to a GObject.
        ///
        /// - Returns: `nil` if the object isn't a widget or if its class can't show images.
        public init?(for widget: OpaquePointer, manager: ImageManager? = nil) {
            let raw = UnsafeMutableRawPointer(widget)
            guard WidgetKind.isA(raw, gtk_widget_get_type()) else { return nil }
            self.init(for: raw.assumingMemoryBound(to: GtkWidget.self), manager: manager)
        }

        /// Creates the view of a GtkButton.
        ///
        /// - Returns: Never `nil` for a button.
        public init?(for button: UnsafeMutablePointer<GtkButton>, manager: ImageManager? = nil) {
            self.init(for: UnsafeMutableRawPointer(button).assumingMemoryBound(to: GtkWidget.self), manager: manager)
        }

        /// Creates the view of a GtkToggleButton.
        ///
        /// - Returns: Never `nil` for a button.
        public init?(for button: UnsafeMutablePointer<GtkToggleButton>, manager: ImageManager? = nil) {
            self.init(for: UnsafeMutableRawPointer(button).assumingMemoryBound(to: GtkWidget.self), manager: manager)
        }

        /// Creates the view of a widget of another binding.
        ///
        /// - Returns: `nil` if the class of the widget can't show images.
        public init?(for widget: some GTKWidgetRepresentable, manager: ImageManager? = nil) {
            self.init(for: OpaquePointer(widget.gtkWidgetPointer), manager: manager)
        }

        /// Creates the view of any widget of another binding. See ``init(for:manager:setPaintable:)``.
        public init(
            for widget: some GTKWidgetRepresentable, manager: ImageManager? = nil,
            setPaintable: @escaping @MainActor (_ paintable: OpaquePointer) -> Void
        ) {
            self.init(
                for: widget.gtkWidgetPointer.assumingMemoryBound(to: GtkWidget.self), manager: manager,
                setPaintable: setPaintable)
        }
    }
#endif
