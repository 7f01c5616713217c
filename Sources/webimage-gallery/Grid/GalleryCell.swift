// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageCommand
    import WebImageGTK
    import WebImagePrograms

    /// A cell of the grid. It shows the image with its name below it, or an error message on top of it.
    @MainActor
    final class GalleryCell: ImageListCell {
        private let index: Widget
        private let caption: Widget
        private let failure: Widget
        private let reason: Widget
        private(set) var item: GalleryItem?
        /// A closure that's called when an image appears or a load fails.
        var onSettle: (() -> Void)?
        /// Whether the tooltip and the accessible texts describe another item.
        private var needsDescription = false
        private var showsFailure = false

        private init(root: Widget, index: Widget, view: WebImageView, caption: Widget, failure: Widget, reason: Widget)
        {
            self.index = index
            self.caption = caption
            self.failure = failure
            self.reason = reason
            super.init(root: root, view: view)
            view.onChange { [weak self] in self?.changed($0) }
        }

        static func make(_ manager: ImageManager) -> GalleryCell {
            let picture: Widget = gtk_picture_new()
            // The initializer never fails for a GtkPicture, so the second view is never created.
            let view =
                WebImageView(for: picture, manager: manager) ?? WebImageView(for: picture, manager: manager) { _ in }
            view.contentFit = .cover
            view.cornerRadius = 10
            view.indicator = .ring.delayed(by: .milliseconds(400))

            let reason = WidgetFactory.label("", "caption", wraps: true)
            gtk_label_set_justify(reason.opaque, GTK_JUSTIFY_CENTER)
            gtk_label_set_xalign(reason.opaque, 0.5)
            gtk_label_set_lines(reason.opaque, 3)
            gtk_label_set_ellipsize(reason.opaque, PANGO_ELLIPSIZE_END)
            gtk_label_set_max_width_chars(reason.opaque, 14)
            // Don't use the icon for missing images, which the theme draws with a third of the opacity.
            let icon: Widget = gtk_image_new_from_icon_name("dialog-warning-symbolic")
            gtk_image_set_pixel_size(icon.opaque, 28)
            let failure = WidgetFactory.box(GTK_ORIENTATION_VERTICAL, spacing: 6).styled("failure")
            gtk_widget_set_can_target(failure, 0)
            for (part, place) in [(icon, GTK_ALIGN_END), (reason, GTK_ALIGN_START)] {
                gtk_widget_set_valign(part, place)
                gtk_widget_set_vexpand(part, 1)
            }
            WidgetFactory.append(failure, icon, reason)
            gtk_widget_hide(failure)

            let overlay: Widget = gtk_overlay_new().styled("thumbnail")
            gtk_widget_set_halign(overlay, GTK_ALIGN_CENTER)
            // An empty box determines the size, because a GtkPicture requests as many points as the image has pixels.
            let place = WidgetFactory.box(GTK_ORIENTATION_VERTICAL)
            gtk_overlay_set_child(overlay.opaque, place)
            gtk_overlay_add_overlay(overlay.opaque, picture)
            gtk_overlay_add_overlay(overlay.opaque, failure)

            let caption = WidgetFactory.label("", "caption")
            gtk_label_set_xalign(caption.opaque, 0.5)
            // Don't let the caption determine the width of the cell.
            gtk_label_set_max_width_chars(caption.opaque, 1)
            let root = WidgetFactory.box(GTK_ORIENTATION_VERTICAL, spacing: 6).styled("gallery-cell")
            WidgetFactory.append(root, overlay, caption)
            return GalleryCell(root: root, index: place, view: view, caption: caption, failure: failure, reason: reason)
        }

        func prepare(_ item: GalleryItem, size: Int) {
            self.item = item
            gtk_widget_set_size_request(index, Int32(size), Int32(size))
            gtk_label_set_text(caption.opaque, item.title)
            hideFailure()
            needsDescription = true
        }

        /// Sets the texts that only pointers and screen readers need. It's separate from ``prepare(_:size:)`` because a
        /// list that scrolls fast prepares thousands of cells per second.
        func describe() {
            guard needsDescription, let item else { return }
            needsDescription = false
            gtk_widget_set_tooltip_text(root, "\(item.title)\n\(item.detail)")
            Property.setAccessible(root, label: item.title, description: item.detail)
        }

        private func changed(_ snapshot: ImageBinder.Snapshot) {
            switch snapshot.state {
            case .failed(let error):
                gtk_label_set_text(reason.opaque, error.shortMessage)
                gtk_widget_show(failure)
                showsFailure = true
                onSettle?()
            case .showing:
                hideFailure()
                onSettle?()
            default: hideFailure()
            }
        }

        private func hideFailure() {
            guard showsFailure else { return }
            gtk_widget_hide(failure)
            showsFailure = false
        }
    }
#endif
