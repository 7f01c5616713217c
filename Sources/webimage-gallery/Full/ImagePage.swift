// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageCommand
    import WebImageGTK
    import WebImagePrograms

    /// A page that shows one image in the size of the window. It begins with the image that the grid has in memory.
    @MainActor
    final class ImagePage {
        let widget: Widget
        let view: WebImageView
        /// The item that the page shows, or `nil` if the page is hidden.
        private(set) var item: GalleryItem?
        /// The full image, or `nil` until it's loaded.
        private(set) var image: DecodedImage?
        /// A closure that's called after ``image`` or the state of its load changes.
        var onChange: (() -> Void)?

        private let model: GalleryModel
        /// The area in which the image is zoomed.
        let area: ZoomArea
        private let imageView: Widget
        private let title: Widget
        private let detail: Widget
        private let failure: Widget
        private let reason: Widget
        private let previous: Widget
        private let next: Widget
        private let play: Widget
        private var response: ImageResponse?
        /// Prefetches the data of the adjacent images, so that it's available when the user moves to them.
        private let neighbours: ListPrefetcher

        init(_ model: GalleryModel) {
            self.model = model
            var ahead = ListPrefetcher.Configuration()
            (ahead.pages, ahead.destination) = (2, .diskCache)
            neighbours = ListPrefetcher(manager: model.manager, configuration: ahead) { position in
                guard model.contents.visibleItems.indices.contains(position) else { return nil }
                return model.settings.full(model.contents.visibleItems[position])
            }
            imageView = gtk_picture_new()
            view =
                WebImageView(for: imageView, manager: model.manager)
                ?? WebImageView(for: imageView, manager: model.manager) { _ in }
            view.contentFit = .contain
            view.indicator = .ring.delayed(by: .milliseconds(250))
            area = ZoomArea(imageView)

            title = WidgetFactory.label("", "heading")
            detail = WidgetFactory.label("", "caption", "dim-label", "numeric")
            for label in [title, detail] { gtk_label_set_xalign(label.opaque, 0.5) }
            play = WidgetFactory.button(icon: "media-playback-pause-symbolic", tooltip: "Pause", action: "win.play")
            previous = WidgetFactory.button(
                icon: "go-previous-symbolic", tooltip: "Previous Image", action: "win.previous")
            next = WidgetFactory.button(icon: "go-next-symbolic", tooltip: "Next Image", action: "win.next")
            reason = WidgetFactory.label("", wraps: true)
            failure = WidgetFactory.box(GTK_ORIENTATION_VERTICAL, spacing: 12).styled("empty-page")
            let overlay: Widget = gtk_overlay_new()
            widget = WidgetFactory.box(GTK_ORIENTATION_VERTICAL).styled("full-page")
            gtk_overlay_set_child(overlay.opaque, area.widget)
            addFailure(overlay)
            addArrows(overlay)
            WidgetFactory.append(widget, overlay)
            addInformation()
            view.onChange { [weak self] in self?.changed($0) }
            area.onChange = { [weak self] in self?.describe() }
        }

        private func addFailure(_ overlay: Widget) {
            gtk_widget_set_halign(failure, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(failure, GTK_ALIGN_CENTER)
            // Don't use the icon for missing images, which the theme draws with a third of the opacity.
            let icon: Widget = gtk_image_new_from_icon_name("dialog-warning-symbolic")
            gtk_image_set_pixel_size(icon.opaque, 64)
            gtk_label_set_justify(reason.opaque, GTK_JUSTIFY_CENTER)
            gtk_label_set_max_width_chars(reason.opaque, 48)
            let title = WidgetFactory.label("Could Not Load Image", "title-2")
            gtk_widget_set_halign(title, GTK_ALIGN_CENTER)
            let again: Widget = gtk_button_new_with_label("Try Again").styled("pill", "suggested-action")
            gtk_widget_set_halign(again, GTK_ALIGN_CENTER)
            gtk_actionable_set_action_name(again.opaque, "win.retry")
            WidgetFactory.append(failure, icon, title, reason, again)
            gtk_widget_hide(failure)
            gtk_overlay_add_overlay(overlay.opaque, failure)
        }

        private func addArrows(_ overlay: Widget) {
            for (button, side) in [(previous, GTK_ALIGN_START), (next, GTK_ALIGN_END)] {
                button.styled("osd", "circular", "arrow")
                gtk_widget_set_halign(button, side)
                gtk_widget_set_valign(button, GTK_ALIGN_CENTER)
                gtk_overlay_add_overlay(overlay.opaque, button)
            }
        }

        private func addInformation() {
            let texts = WidgetFactory.box(GTK_ORIENTATION_VERTICAL, spacing: 2)
            WidgetFactory.append(texts, title, detail)
            let bar = WidgetFactory.box(GTK_ORIENTATION_HORIZONTAL, spacing: 12).styled("information")
            gtk_widget_set_halign(bar, GTK_ALIGN_CENTER)
            play.styled("flat", "circular")
            gtk_widget_set_valign(play, GTK_ALIGN_CENTER)
            WidgetFactory.append(bar, play, texts)
            WidgetFactory.append(widget, bar)
        }

        // MARK: - Content

        /// Shows `item`, which is at position `index` of `count`.
        func show(_ item: GalleryItem, index: Int, count: Int) {
            self.item = item
            image = nil
            response = nil
            area.show(nil)
            gtk_label_set_text(title.opaque, item.title)
            gtk_widget_set_sensitive(previous, index > 0 ? 1 : 0)
            gtk_widget_set_sensitive(next, index + 1 < count ? 1 : 0)
            Property.setAccessible(imageView, label: item.title, description: item.detail)
            gtk_widget_hide(play)
            var options = model.settings.fullOptions(item)
            let scale = Int(gtk_widget_get_scale_factor(imageView))
            // Set the placeholder before the page has a size, so that its first frame shows it.
            if let cell = model.manager.cachedImage(for: model.settings.thumbnail(item, scale: scale)) {
                options.placeholder = .image(cell)
            }
            view.load(model.settings.full(item), options: options) { [weak self] result in
                guard let self, self.item == item, case .success(let response) = result else { return }
                image = response.image
                self.response = response
                area.show(response.image.uprightRawSize)
                describe()
                onChange?()
            }
            describe()
            if neighbours.window.count != count { neighbours.reset(count: count) }
            neighbours.update(visibleRange: index..<index + 1)
            onChange?()
        }

        /// The number of adjacent images that are being prefetched.
        var prefetching: Int { neighbours.runningCount }

        func close() {
            neighbours.reset(count: 0)
            item = nil
            image = nil
            response = nil
            view.clear()
            gtk_widget_hide(failure)
        }

        /// Reloads the current item with the current settings.
        func reload(index: Int, count: Int) {
            if let item { show(item, index: index, count: count) }
        }

        /// Pauses or resumes the animation. Returns `false` if there's none.
        @discardableResult
        func togglePlaying() -> Bool {
            guard let player = view.player() else { return false }
            if player.state == .playing { player.pause() } else { player.play() }
            describe()
            return true
        }

        private func changed(_ snapshot: ImageBinder.Snapshot) {
            if case .failed(let error) = snapshot.state {
                gtk_label_set_text(reason.opaque, error.shortMessage)
                gtk_widget_show(failure)
            } else {
                gtk_widget_hide(failure)
            }
            describe()
        }

        private func describe() {
            guard let item else { return }
            gtk_label_set_text(
                detail.opaque, ImageDescription.text(item, image, response, view.snapshot(), scale: area.zoom.scale))
            let player = view.player()
            gtk_widget_set_visible(play, player == nil ? 0 : 1)
            let isPlaying = player?.state == .playing
            gtk_button_set_icon_name(
                gtkCast(play), isPlaying ? "media-playback-pause-symbolic" : "media-playback-start-symbolic")
            WidgetFactory.describe(play, isPlaying ? "Pause" : "Play")
        }
    }

    /// The text below the title of an image.
    enum ImageDescription {
        static func text(
            _ item: GalleryItem, _ image: DecodedImage?, _ response: ImageResponse?, _ snapshot: ImageBinder.Snapshot,
            scale: Double? = nil
        ) -> String {
            var parts: [String] = []
            if let scale { parts.append("\(NumberFormatting.decimal(scale * 100, digits: 0))%") }
            if let image {
                let size = image.uprightRawSize
                parts.append("\(size.width) × \(size.height)")
                if let format = image.format { parts.append(format.rawValue.uppercased()) }
                if image.frameCount > 1 { parts.append("\(image.frameCount) Frames") }
            }
            if let bytes = response?.originalByteCount { parts.append(NumberFormatting.decimalBytes(bytes)) }
            if let response {
                parts.append(title(response.source))
            } else if let fraction = snapshot.progress?.fraction {
                parts.append("\(NumberFormatting.decimal(fraction * 100, digits: 0))%")
            } else if snapshot.state == .loading || snapshot.state == .previewing || snapshot.state == .waiting {
                parts.append("Loading…")
            }
            parts.append(item.detail)
            return parts.joined(separator: " · ")
        }

        private static func title(_ source: ImageResponse.Source) -> String {
            switch source {
            case .memoryCache: "Memory Cache"
            case .diskCache: "Disk Cache"
            case .cacheTier: "Cache Tier"
            case .revalidated: "Revalidated"
            case .network: "Network"
            case .local: "Local"
            }
        }
    }

    extension DecodedImage {
        /// The full size of the image with the EXIF orientation applied, in pixels, regardless of the size at which it
        /// was decoded.
        var uprightRawSize: PixelSize { metadata.orientation.upright(metadata.storedSize) }
    }
#endif
