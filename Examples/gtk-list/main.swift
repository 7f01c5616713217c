// SPDX-License-Identifier: MIT

// Shows a list with 10,000 rows, which have an image and a name. Cells are reused, visible images load first, and
// images ahead in the scrolling direction are prefetched. Pass URLs as arguments. Without arguments, a server on
// 127.0.0.1 delivers the images.
//   swift run --package-path Examples --traits GTK gtk-list [URL…]

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageGTK
    import WebImageTesting

    /// A row with an image and a name next to it.
    @MainActor
    final class Row: ImageListCell {
        private let label: UnsafeMutablePointer<GtkWidget>

        init() {
            let box: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12)
            let picture: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
            label = gtk_label_new(nil)
            let view = WebImageView(for: picture) { gtk_picture_set_paintable(OpaquePointer(picture), $0) }
            gtk_widget_set_size_request(picture, 96, 64)
            view.contentFit = .cover
            view.cornerRadius = 8
            for widget in [picture, label] {
                gtk_box_append(gtkCast(box), widget)
            }
            super.init(root: box, view: view)
        }

        func show(name: String) { gtk_label_set_text(OpaquePointer(label), name) }
    }

    /// Starts a server on 127.0.0.1 that delivers the images of this repository.
    func serve() throws -> (LoopbackServer, [URL]) {
        let folder = URL(filePath: #filePath).appending(path: "../../../Sources/webimage/Album").standardized
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
            .filter { $0.hasSuffix(".jpg") || $0.hasSuffix(".webp") }.sorted()
        let server = try LoopbackServer { request in
            let name = request.path.split(separator: "/").last.map(String.init) ?? ""
            guard names.contains(name), let data = try? Data(contentsOf: folder.appending(path: name)) else {
                return .status(404)
            }
            return .ok(data, contentType: name.hasSuffix("jpg") ? "image/jpeg" : "image/webp")
        }
        return (server, names.map { server.url("/\($0)") })
    }

    var urls = CommandLine.arguments.dropFirst().compactMap { ImageRequest(string: $0)?.url }
    let server = urls.isEmpty ? try serve() : nil
    if let server { urls = server.1 }

    gtk_init()
    let window = gtkCast(gtk_window_new(), to: GtkWindow.self)
    gtk_window_set_default_size(window, 480, 640)
    gtk_window_set_title(window, "A List of Images")

    let names = gtk_string_list_new(nil)
    for number in 1...10_000 {
        gtk_string_list_append(names, "\(number). \(urls[number % urls.count].lastPathComponent)")
    }
    let list: UnsafeMutablePointer<GtkWidget> = gtk_list_view_new(gtk_no_selection_new(names), nil)

    let grey = ImagePlaceholder.color(PixelColor(red: 128, green: 128, blue: 128, alpha: 60))
    let factory = ImageListFactory(
        makeCell: { Row() },
        content: { position in
            // With a size, the request of the row and the request of the prefetcher are equal.
            var request = ImageRequest(
                url: urls[(position + 1) % urls.count], size: .fill(width: 96, height: 64, unit: .points))
            request.scale = Double(gtk_widget_get_scale_factor(list))
            return ImageListContent(
                request,
                options: ImageViewOptions(placeholder: grey, transition: .crossFade(duration: .milliseconds(200))))
        },
        willShow: { row, position in
            row.show(name: String(cString: gtk_string_list_get_string(names, guint(position))))
        })
    factory.install(on: OpaquePointer(list))

    let scroller: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
    gtk_scrolled_window_set_child(OpaquePointer(scroller), list)
    gtk_window_set_child(window, scroller)
    gtk_window_present(window)
    while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) }
#else
    print("This example requires GTK. Install libgtk-4-dev and build with --traits GTK.")
#endif
