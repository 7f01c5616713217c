// SPDX-License-Identifier: MIT

import Adwaita
import Foundation
import WebImageGTK

/// A widget of Adwaita for Swift that loads and shows the image at a URL:
///
/// ```swift
/// WebImageWidget(url, alternativeText: "A lighthouse at dusk")
/// ```
///
/// Call `GTKMainLoop.install()` when the application starts, because that package doesn't run the main actor.
public struct WebImageWidget: AdwaitaWidget {
    private let url: URL?
    private let alternativeText: String?
    private let contentFit: WebImageGTK.ContentFit

    /// Creates a widget.
    public init(_ url: URL?, alternativeText: String? = nil, contentFit: WebImageGTK.ContentFit = .contain) {
        self.url = url
        self.alternativeText = alternativeText
        self.contentFit = contentFit
    }

    /// Creates the GtkPicture, which the storage retains.
    public func container<Data>(data: WidgetData, type: Data.Type) -> ViewStorage where Data: ViewRenderData {
        let picture = MainActor.assumeIsolated { WebPicture() }
        let address = MainActor.assumeIsolated { UInt(bitPattern: picture.gtkWidgetPointer) }
        let storage = ViewStorage(OpaquePointer(bitPattern: address))
        storage.fields["picture"] = picture
        update(storage, data: data, updateProperties: true, type: type)
        return storage
    }

    /// Loads another image if the URL changed.
    public func update<Data>(
        _ storage: ViewStorage, data: WidgetData, updateProperties: Bool, type: Data.Type
    ) where Data: ViewRenderData {
        guard updateProperties, let picture = storage.fields["picture"] as? WebPicture else { return }
        let (url, alternativeText, contentFit) = (url, alternativeText, contentFit)
        MainActor.assumeIsolated {
            picture.alternativeText = alternativeText
            picture.view.contentFit = contentFit
            if picture.view.request()?.url != url { picture.view.load(url) }
        }
    }
}
