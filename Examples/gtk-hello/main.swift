// SPDX-License-Identifier: MIT

// Shows an image from the web in a GTK 4 window. Pass the URL as an argument. Without an argument, the example shows an
// image of this repository.
//   swift run --package-path Examples --traits GTK gtk-hello https://example.org/picture.jpg

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageGTK

    let bundled = URL(filePath: #filePath).appending(path: "../../../Sources/webimage/Album/aurora.jpg").standardized
    let url = CommandLine.arguments.dropFirst().first.flatMap { ImageRequest(string: $0)?.url } ?? bundled

    gtk_init()
    let window = gtkCast(gtk_window_new(), to: GtkWindow.self)
    gtk_window_set_default_size(window, 720, 480)
    let picture: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
    WebImageView(for: picture)?.load(url, transition: .crossFade())
    gtk_window_set_child(window, picture)
    gtk_window_present(window)
    while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) }
#else
    print("This example requires GTK. Install libgtk-4-dev and build with --traits GTK.")
#endif
