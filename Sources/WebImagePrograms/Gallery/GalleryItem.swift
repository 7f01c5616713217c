// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// An image of the gallery.
package struct GalleryItem: Sendable, Hashable {
    /// The position in the original order, starting at 0.
    package let number: Int
    package let url: URL
    /// The title of the image.
    package let title: String
    /// The origin of the image: a host, a directory, or a URL scheme.
    package let detail: String
    /// The BlurHash for the placeholder, or `nil` if it's unknown.
    package let blurHash: String?
    /// The width divided by the height, or `nil` if it's unknown.
    package let aspectRatio: Double?

    package init(
        number: Int, url: URL, title: String, detail: String, blurHash: String? = nil, aspectRatio: Double? = nil
    ) {
        self.number = number
        self.url = url
        self.title = title
        self.detail = detail
        self.blurHash = blurHash
        self.aspectRatio = aspectRatio
    }

    /// Creates an item from a URL. The title and the detail are derived from it.
    package init(number: Int, url: URL) {
        let path = url.path(percentEncoded: false)
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let folder = path.split(separator: "/").dropLast().last.map(String.init)
        self.init(
            number: number, url: url, title: name.isEmpty ? Inputs.shortName(url.absoluteString) : name,
            detail: (url.isFileURL ? folder : url.host()) ?? url.scheme ?? "")
    }
}
