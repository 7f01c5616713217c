// SPDX-License-Identifier: MIT

// Shows images in widgets that other code created: raw pointers, widgets of another Swift binding, and a widget whose
// class WebImage doesn't know. Pass a URL as an argument. Without an argument, the example shows an image of this
// repository.
//   swift run --package-path Examples --traits GTK gtk-pointers [URL]

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageGTK

    /// A stand-in for the widget class of another binding, which has only the GTK pointer in common with this module.
    final class TheirWidget {
        let widgetPointer: UnsafeMutablePointer<GtkWidget>

        init(_ pointer: UnsafeMutablePointer<GtkWidget>) { widgetPointer = pointer }
    }

    // One conformance covers the whole class. Add `@retroactive` if the class is declared in another package.
    extension TheirWidget: GTKWidgetRepresentable {
        var gtkWidgetPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widgetPointer) }
    }

    let bundled = URL(filePath: #filePath).appending(path: "../../../Sources/webimage/Album/glass.jpg").standardized
    let url = CommandLine.arguments.dropFirst().first.flatMap { ImageRequest(string: $0)?.url } ?? bundled

    gtk_init()
    let window = gtkCast(gtk_window_new(), to: GtkWindow.self)
    gtk_window_set_title(window, "Pointers")
    let row: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 24)
    let container = gtkCast(row, to: GtkBox.self)

    // A pointer to a widget, which some GTK functions return as an opaque pointer.
    let picture: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
    gtk_widget_set_size_request(picture, 200, 200)
    gtk_box_append(container, picture)
    WebImageView(for: OpaquePointer(picture))?.load(url, transition: .crossFade())

    // A button with an image and a text, and with another image while the pointer is over it.
    let button: UnsafeMutablePointer<GtkWidget> = gtk_button_new_with_label("Press me")
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER)
    gtk_box_append(container, button)
    let view = WebImageView(for: gtkCast(button, to: GtkButton.self))
    let small = TargetSize.fill(width: 48, height: 48)
    view?.load(ImageRequest(url: url, size: small))
    view?.load(ImageRequest(url: url, size: small, transformers: [.grayscale]), slot: .image(.hover))

    // A widget of another binding.
    let theirs = TheirWidget(gtk_image_new())
    gtk_widget_set_size_request(theirs.widgetPointer, 120, 120)
    gtk_image_set_pixel_size(OpaquePointer(theirs.widgetPointer), 120)
    gtk_box_append(container, theirs.widgetPointer)
    WebImageView(for: theirs)?.load(url)

    // A widget whose class can't show images. The closure decides what to do with the paintable.
    let frame: UnsafeMutablePointer<GtkWidget> = gtk_frame_new("A frame")
    let inside: UnsafeMutablePointer<GtkWidget> = gtk_image_new()
    gtk_image_set_pixel_size(OpaquePointer(inside), 120)
    gtk_frame_set_child(gtkCast(frame), inside)
    gtk_box_append(container, frame)
    WebImageView(for: frame) { gtk_image_set_from_paintable(OpaquePointer(inside), $0) }.load(url)

    gtk_window_set_child(window, row)
    gtk_window_present(window)
    while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) }
#else
    print("This example requires GTK. Install libgtk-4-dev and build with --traits GTK.")
#endif
