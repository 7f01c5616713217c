// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage

    extension WebImageView {
        /// The view of a widget that is known as an opaque pointer, as GtkPicture and GtkImage are in Swift. The pointer must be
        /// one of a GObject.
        ///
        /// - Returns: nil for what is no widget, or no widget that takes pictures.
        public init?(of widget: OpaquePointer, manager: ImageManager? = nil) {
            let raw = UnsafeMutableRawPointer(widget)
            guard WidgetKind.isA(raw, gtk_widget_get_type()) else { return nil }
            self.init(of: raw.assumingMemoryBound(to: GtkWidget.self), manager: manager)
        }

        /// The view of a GtkButton.
        ///
        /// - Returns: never nil for a button.
        public init?(of button: UnsafeMutablePointer<GtkButton>, manager: ImageManager? = nil) {
            self.init(of: UnsafeMutableRawPointer(button).assumingMemoryBound(to: GtkWidget.self), manager: manager)
        }

        /// The view of a GtkToggleButton.
        ///
        /// - Returns: never nil for a button.
        public init?(of button: UnsafeMutablePointer<GtkToggleButton>, manager: ImageManager? = nil) {
            self.init(of: UnsafeMutableRawPointer(button).assumingMemoryBound(to: GtkWidget.self), manager: manager)
        }

        /// The view of another binding's widget.
        ///
        /// - Returns: nil for widgets that take no pictures.
        public init?(of widget: some GTKWidgetRepresentable, manager: ImageManager? = nil) {
            self.init(of: OpaquePointer(widget.gtkWidgetPointer), manager: manager)
        }

        /// The view of any widget of another binding; see ``init(of:manager:show:)``.
        public init(
            of widget: some GTKWidgetRepresentable, manager: ImageManager? = nil,
            show: @escaping @MainActor (_ paintable: OpaquePointer) -> Void
        ) {
            self.init(
                of: widget.gtkWidgetPointer.assumingMemoryBound(to: GtkWidget.self), manager: manager, show: show)
        }
    }
#endif
