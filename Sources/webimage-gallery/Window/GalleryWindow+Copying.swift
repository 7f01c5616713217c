// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCommand
    import WebImageGTK
    import WebImagePrograms

    typealias ContentProvider = UnsafeMutablePointer<GdkContentProvider>

    /// Copying images to the clipboard and dragging them to other programs.
    extension GalleryWindow {
        /// The current item, which is the item in the large view or the selected item.
        private var meant: GalleryItem? {
            if isFull { return full.item }
            guard let place = grid.selected, model.contents.visibleItems.indices.contains(place) else { return nil }
            return model.contents.visibleItems[place]
        }

        /// Copies the image at its full size and its URL.
        func copy() {
            // If the search entry has the focus, copy its text.
            if search.hasFocus, let focus = gtk_window_get_focus(window) {
                gtk_widget_activate_action_variant(focus, "clipboard.copy", nil)
                return
            }
            guard let item = meant else { return toast.show("No image selected") }
            Task { [weak self, model] in
                do throws(ImageError) {
                    let image = try await model.manager.image(for: model.settings.full(item))
                    guard let self, !isClosed, let clipboard = gdk_display_get_clipboard(gdk_display_get_default())
                    else { return }
                    let content = Self.content(image, item)
                    gdk_clipboard_set_content(clipboard, content)
                    g_object_unref(content.map { UnsafeMutableRawPointer($0) })
                    toast.show("Image copied to clipboard")
                } catch {
                    if let self, !isClosed { toast.show("Could not copy image: \(error.shortMessage)") }
                }
            }
        }

        /// Returns a provider for the image and for its URL as text, so that the recipient can choose.
        static func content(_ image: DecodedImage?, _ item: GalleryItem) -> ContentProvider? {
            // The value of G_TYPE_STRING, which is a macro with a cast. It's the fundamental type 16.
            var providers = [provider(GType(16 << 2)) { g_value_set_string($0, item.url.absoluteString) }]
            // Lines end with CR LF (RFC 2483, section 5).
            let list = item.url.absoluteString + "\r\n"
            if let bytes = g_bytes_new(list, gsize(list.utf8.count)) {
                providers.append(gdk_content_provider_new_for_bytes("text/uri-list", bytes))
                g_bytes_unref(bytes)
            }
            if item.url.isFileURL, let file = g_file_new_for_uri(item.url.absoluteString) {
                providers.insert(
                    provider(g_file_get_type()) { g_value_set_object($0, UnsafeMutableRawPointer(file)) }, at: 0)
                g_object_unref(UnsafeMutableRawPointer(file))
            }
            if let image {
                let texture = GTKTexture.texture(for: image)
                providers.insert(
                    provider(gdk_texture_get_type()) {
                        g_value_set_object($0, UnsafeMutableRawPointer(texture.pointer))
                    }, at: 0)
            }
            // The union takes ownership of the providers.
            return gdk_content_provider_new_union(&providers, gsize(providers.count))
        }

        private static func provider(_ type: GType, _ set: (UnsafeMutablePointer<GValue>) -> Void) -> ContentProvider? {
            var value = GValue()
            g_value_init(&value, type)
            defer { g_value_unset(&value) }
            set(&value)
            return gdk_content_provider_new_for_value(&value)
        }

        func addCopying() {
            guard let source = gtk_drag_source_new() else { return }
            gtk_drag_source_set_actions(source, GDK_ACTION_COPY)
            let prepare: @convention(c) (gpointer?, Double, Double, gpointer?) -> ContentProvider? = { _, _, _, data in
                guard let data else { return nil }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let pointer = data
                // Safe: `assumeIsolated` runs synchronously, so the variable is written and read on the main thread.
                nonisolated(unsafe) var content: ContentProvider?
                MainActor.assumeIsolated { content = Callback<Void, ContentProvider?>.of(pointer)?.call(()) ?? nil }
                return content
            }
            connect(
                UnsafeMutableRawPointer(source), "prepare", unsafeBitCast(prepare, to: GCallback.self),
                Callback<Void, ContentProvider?> { [weak self] in self?.dragged(source) })
            gtk_widget_add_controller(full.widget, source)
        }

        private func dragged(_ source: OpaquePointer) -> ContentProvider? {
            // If a part of the image is hidden, dragging pans the image instead.
            guard let item = full.item, !full.area.zoom.isCut else { return nil }
            if let image = full.image { gtk_drag_source_set_icon(source, GTKTexture.texture(for: image).pointer, 0, 0) }
            return Self.content(full.image, item)
        }
    }
#endif
