// SPDX-License-Identifier: MIT

import Adwaita
import Foundation
import WebImageGTK

/// All widgets of swift-adwaita have a pointer, so all functions of WebImageGTK accept them:
///
/// ```swift
/// WebImageView(for: button)?.load(url)
/// ```
///
/// Call `GTKMainLoop.install()` when the application starts, because that package doesn't run the main actor.
extension Adwaita.Widget: WebImageGTK.GTKWidgetRepresentable {
    /// The pointer to the GtkWidget.
    public var gtkWidgetPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widgetPointer) }
}

extension Picture {
    /// Loads and shows the image at a URL.
    @discardableResult
    public func load(
        _ url: URL?, placeholder: ImagePlaceholder = .empty, transition: ImageTransition = .none,
        completion: (@MainActor (Result<ImageResponse, ImageError>) -> Void)? = nil
    ) -> WebImageView? {
        let view = WebImageView(for: self)
        view?.load(url, placeholder: placeholder, transition: transition, completion: completion)
        return view
    }
}
