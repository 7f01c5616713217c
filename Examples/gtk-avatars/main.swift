// SPDX-License-Identifier: MIT

// Shows round images of people in a flow box, with a BlurHash as the placeholder. Pass URLs as arguments. Without
// arguments, a server on 127.0.0.1 delivers images of this repository with a delay.
//   swift run --package-path Examples --traits GTK gtk-avatars [URL…]

#if GTK
    import CGTK4
    import Dispatch
    import Foundation
    import WebImage
    import WebImageGTK
    import WebImageTesting

    /// A person, as described by a server.
    struct Person: Sendable {
        let name: String
        let url: URL
        let blurHash: String
    }

    /// An entry in the list of images of this repository.
    struct Entry: Decodable {
        let file: String
        let title: String
        let blurHash: String?
    }

    func serve() throws -> (LoopbackServer, [Person]) {
        let folder = URL(filePath: #filePath).appending(path: "../../../Sources/webimage/Album").standardized
        let list = try Data(contentsOf: folder.appending(path: "album.json"))
        let entries = try JSONDecoder().decode([Entry].self, from: list).filter { $0.blurHash != nil }
        let files = Set(entries.map(\.file))
        let server = try LoopbackServer { request in
            let name = request.path.split(separator: "/").last.map(String.init) ?? ""
            guard files.contains(name), let data = try? Data(contentsOf: folder.appending(path: name)) else {
                return .status(404)
            }
            // Delay the response, so that the BlurHash is visible.
            let gate = TestGate()
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(300 + request.index * 60)) {
                gate.open()
            }
            return .ok(data, contentType: "image/\(name.split(separator: ".").last ?? "jpeg")").with {
                $0.headGate = gate
            }
        }
        return (
            server, entries.map { Person(name: $0.title, url: server.url("/\($0.file)"), blurHash: $0.blurHash ?? "") }
        )
    }

    let given = CommandLine.arguments.dropFirst().compactMap { ImageRequest(string: $0)?.url }.map {
        Person(name: $0.lastPathComponent, url: $0, blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj")
    }
    let server = given.isEmpty ? try serve() : nil
    let people = server?.1 ?? given
    let side = 88.0

    gtk_init()
    let window = gtkCast(gtk_window_new(), to: GtkWindow.self)
    gtk_window_set_default_size(window, 560, 480)
    gtk_window_set_title(window, "Avatars")
    let box: UnsafeMutablePointer<GtkWidget> = gtk_flow_box_new()
    gtk_widget_set_valign(box, GTK_ALIGN_START)

    let avatars = ImageFlowBox(
        OpaquePointer(box), count: people.count,
        makeCell: {
            let picture: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
            gtk_widget_set_size_request(picture, Int32(side), Int32(side))
            gtk_widget_set_halign(picture, GTK_ALIGN_CENTER)
            let view = WebImageView(for: picture) { gtk_picture_set_paintable(OpaquePointer(picture), $0) }
            view.contentFit = .cover
            // Rounding the corners while drawing doesn't add another image to the caches.
            view.cornerRadius = side / 2
            return ImageListCell(root: picture, view: view)
        },
        content: { position in
            var request = ImageRequest(url: people[position].url, size: .fill(width: side, height: side, unit: .points))
            request.scale = Double(gtk_widget_get_scale_factor(box))
            return ImageListContent(
                request,
                options: ImageViewOptions(placeholder: .blurHash(people[position].blurHash), transition: .crossFade()))
        },
        willShow: { avatar, position in gtk_widget_set_tooltip_text(avatar.root, people[position].name) })

    let scroller: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
    gtk_scrolled_window_set_child(OpaquePointer(scroller), box)
    gtk_window_set_child(window, scroller)
    gtk_window_present(window)
    while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) }
#else
    print("This example requires GTK. Install libgtk-4-dev and build with --traits GTK.")
#endif
