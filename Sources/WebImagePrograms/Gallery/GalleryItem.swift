// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// One picture of the gallery.
package struct GalleryItem: Sendable, Hashable {
    /// Its place as given, from 0.
    package let number: Int
    package let url: URL
    /// What it is called.
    package let title: String
    /// Where it is from: host, folder, or what kind of file it is.
    package let detail: String
    /// For a placeholder; nil where none is known.
    package let blurHash: String?
    /// Width ÷ height; nil where it is not known.
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

    /// A picture of which only the URL is known.
    package init(number: Int, url: URL) {
        let path = url.path(percentEncoded: false)
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let folder = path.split(separator: "/").dropLast().last.map(String.init)
        self.init(
            number: number, url: url, title: name.isEmpty ? Inputs.shortName(url.absoluteString) : name,
            detail: (url.isFileURL ? folder : url.host()) ?? url.scheme ?? "")
    }
}
