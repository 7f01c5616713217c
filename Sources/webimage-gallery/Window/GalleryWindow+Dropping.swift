// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCommand
    import WebImageGTK
    import WebImagePrograms

    /// Dropping files, directories, and URLs on the window.
    extension GalleryWindow {
        func addDropping() {
            guard let target = gtk_drop_target_new(GType(0), GDK_ACTION_COPY) else { return }
            var types = [gdk_file_list_get_type(), GType(16 << 2)]
            gtk_drop_target_set_gtypes(target, &types, gsize(types.count))
            let drop: @convention(c) (gpointer?, UnsafePointer<GValue>?, Double, Double, gpointer?) -> gboolean = {
                _, value, _, _, data in
                guard let value, let data else { return 0 }
                // Safe: `assumeIsolated` runs synchronously, so the pointers never leave the main thread.
                nonisolated(unsafe) let (content, pointer) = (value, data)
                return MainActor.assumeIsolated {
                    Callback<[String], Bool>.of(pointer)?.call(Dropped.addresses(in: content)) ?? false
                } ? 1 : 0
            }
            let raw = UnsafeMutableRawPointer(target)
            connect(
                raw, "drop", unsafeBitCast(drop, to: GCallback.self),
                Callback<[String], Bool> { [weak self] addresses in
                    self?.dropTarget.isVisible = false
                    self?.add(addresses)
                    return !addresses.isEmpty
                })
            let enter: @convention(c) (gpointer?, Double, Double, gpointer?) -> GdkDragAction = { _, _, _, data in
                if let data {
                    // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                    nonisolated(unsafe) let pointer = data
                    MainActor.assumeIsolated { Callback<Void, Void>.of(pointer)?.call(()) }
                }
                return GDK_ACTION_COPY
            }
            connect(
                raw, "enter", unsafeBitCast(enter, to: GCallback.self),
                Callback<Void, Void> { [weak self] in self?.dropTarget.isVisible = true })
            on(raw, "leave") { [weak self] _ in self?.dropTarget.isVisible = false }
            gtk_widget_add_controller(gtkCast(window), target)
        }

        /// Adds the images at the addresses. A single image is opened in the large view, and several images are shown
        /// in the grid.
        func add(_ addresses: [String]) {
            guard !addresses.isEmpty else { return toast.show("No images found") }
            Task { [weak self] in
                let (urls, failure) = await Dropped.images(addresses)
                guard let self, !isClosed else { return }
                guard let first = model.add(urls), let place = model.contents.index(of: first) else {
                    return toast.show(failure ?? "No images found")
                }
                if urls.count == 1 { open(place) } else { grid.reveal(place) }
                toast.show(urls.count == 1 ? "Image added" : "\(NumberFormatting.grouped(urls.count)) images added")
            }
        }
    }

    /// A namespace for reading dropped data.
    @MainActor
    enum Dropped {
        /// Returns the URLs in a GdkFileList or a string. In a string, each line is a URL, or a comment if it begins
        /// with `#` (RFC 2483, section 5).
        static func addresses(in value: UnsafePointer<GValue>) -> [String] {
            if g_type_check_value_holds(value, gdk_file_list_get_type()) != 0, let list = g_value_get_boxed(value) {
                var result: [String] = []
                let files = gdk_file_list_get_files(OpaquePointer(list))
                var link = files
                while let item = link {
                    if let file = item.pointee.data, let text = uri(of: OpaquePointer(file)) { result.append(text) }
                    link = item.pointee.next
                }
                g_slist_free(files)
                return result
            }
            guard g_type_check_value_holds(value, GType(16 << 2)) != 0, let text = g_value_get_string(value) else {
                return []
            }
            return lines(String(cString: text))
        }

        static func addresses(of files: OpaquePointer) -> [String] {
            (0..<g_list_model_get_n_items(files)).compactMap { index in
                guard let file = g_list_model_get_item(files, index) else { return nil }
                defer { g_object_unref(file) }
                return uri(of: OpaquePointer(file))
            }
        }

        nonisolated static func lines(_ text: String) -> [String] {
            text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty && !$0.hasPrefix("#") }
        }

        private static func uri(of file: OpaquePointer) -> String? {
            guard let text = g_file_get_uri(file) else { return nil }
            defer { g_free(text) }
            return String(cString: text)
        }

        /// Returns the URLs of the images at the addresses, including those in directories. The file system is accessed
        /// in the background.
        nonisolated static func images(_ addresses: [String]) async -> ([URL], String?) {
            await withCheckedContinuation { continuation in
                DispatchQueue.global(qos: .userInitiated).async {
                    var urls: [URL] = []
                    var failure: String?
                    for address in addresses {
                        do throws(ImageError) {
                            let url = try Inputs.url(address)
                            urls += try GalleryContents.urls(
                                of: url.isFileURL ? url.path(percentEncoded: false) : address)
                        } catch {
                            failure = error.shortMessage
                        }
                    }
                    continuation.resume(returning: (urls, failure))
                }
            }
        }
    }
#endif
