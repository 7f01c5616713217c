// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImagePrograms

    /// The area that shows an image, either fitted or zoomed. It's a scrolled window whose content has the size of the
    /// zoomed image.
    @MainActor
    final class ZoomArea {
        let widget: Widget
        /// A closure that's called after every change.
        var onChange: (() -> Void)?

        private var state = ImageZoom()
        private let position: Widget
        private let content: Widget
        private static let smallest: (width: Int32, height: Int32) = (160, 120)

        init(_ picture: Widget) {
            // An empty box determines the size, because a GtkPicture requests as many points as the image has pixels.
            position = WidgetFactory.box(GTK_ORIENTATION_VERTICAL)
            content = gtk_overlay_new()
            gtk_overlay_set_child(content.opaque, position)
            gtk_overlay_add_overlay(content.opaque, picture)
            widget = gtk_scrolled_window_new().styled("zoom-area")
            gtk_scrolled_window_set_child(widget.opaque, content)
            gtk_widget_set_hexpand(widget, 1)
            gtk_widget_set_vexpand(widget, 1)
            apply()
        }

        // MARK: - State

        var zoom: ImageZoom {
            var zoom = state
            zoom.follow(
                ImageZoom.Extent(
                    width: Double(gtk_widget_get_width(widget)), height: Double(gtk_widget_get_height(widget))),
                offset: ImageZoom.Point(
                    x: gtk_adjustment_get_value(across), y: gtk_adjustment_get_value(down)))
            return zoom
        }

        /// The center of the visible area, for zooming with keys.
        var middle: ImageZoom.Point {
            ImageZoom.Point(
                x: Double(gtk_widget_get_width(widget)) / 2, y: Double(gtk_widget_get_height(widget)) / 2)
        }

        /// Replaces the image and fits it into the area. `size` is in device pixels, or `nil` if it's unknown.
        func show(_ size: PixelSize?) {
            let scale = Double(max(1, gtk_widget_get_scale_factor(widget)))
            change { zoom in
                zoom.show(
                    size.map { ImageZoom.Extent(width: Double($0.width) / scale, height: Double($0.height) / scale) })
            }
        }

        func change(_ body: (inout ImageZoom) -> Void) {
            let old = zoom
            var new = old
            body(&new)
            state = new
            guard new != old else { return }
            apply()
            onChange?()
        }

        // MARK: - Widgets

        private var across: UnsafeMutablePointer<GtkAdjustment>? {
            gtk_scrolled_window_get_hadjustment(widget.opaque)
        }
        private var down: UnsafeMutablePointer<GtkAdjustment>? {
            gtk_scrolled_window_get_vadjustment(widget.opaque)
        }

        private func apply() {
            let isFitted = state.scale == nil
            let align = isFitted ? GTK_ALIGN_FILL : GTK_ALIGN_CENTER
            gtk_widget_set_halign(content, align)
            gtk_widget_set_valign(content, align)
            // With another policy, the scrolled window would consume scroll events, which move to other images while an
            // image is fitted.
            let policy = isFitted ? GTK_POLICY_NEVER : GTK_POLICY_AUTOMATIC
            gtk_scrolled_window_set_policy(widget.opaque, policy, policy)
            guard !isFitted else {
                return gtk_widget_set_size_request(position, Self.smallest.width, Self.smallest.height)
            }
            let size = state.content
            gtk_widget_set_size_request(position, Int32(size.width.rounded()), Int32(size.height.rounded()))
            // Update the adjustments immediately, so that the next layout uses the new size and the new offset.
            scroll(across, to: state.offset.x, of: size.width, page: state.view.width)
            scroll(down, to: state.offset.y, of: size.height, page: state.view.height)
        }

        private func scroll(
            _ adjustment: UnsafeMutablePointer<GtkAdjustment>?, to value: Double, of length: Double, page: Double
        ) {
            gtk_adjustment_configure(adjustment, value, 0, max(length, page), page / 10, page * 0.9, page)
        }
    }
#endif
