// SPDX-License-Identifier: MIT

import Foundation
import Gtk
import WebImageGTK

/// Widgets of SwiftGtk have a pointer, so all functions of WebImageGTK accept them:
///
/// ```swift
/// WebImageView(for: image)?.load(url)
/// ```
///
/// Call `GTKMainLoop.install()` before the application runs.
extension Gtk.Widget: WebImageGTK.GTKWidgetRepresentable {
    /// The pointer to the GtkWidget.
    public var gtkWidgetPointer: UnsafeMutableRawPointer { ptr }
}

/// References to widgets, which other functions of SwiftGtk return.
extension Gtk.WidgetRef: WebImageGTK.GTKWidgetRepresentable {
    /// The pointer to the GtkWidget.
    public var gtkWidgetPointer: UnsafeMutableRawPointer { ptr }
}

extension WidgetProtocol {
    /// Loads and shows the image at a URL in any widget that can show images. Returns `nil` for other widgets.
    @MainActor @discardableResult
    public func load(_ url: URL?, placeholder: ImagePlaceholder = .empty) -> WebImageView? {
        let view = WebImageView(for: WidgetRef(raw: ptr))
        view?.load(url, placeholder: placeholder)
        return view
    }
}
