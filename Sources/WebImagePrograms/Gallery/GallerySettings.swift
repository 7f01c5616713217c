// SPDX-License-Identifier: MIT

import WebImage
import WebImageUI

/// The settings of the gallery.
package struct GallerySettings: Sendable, Hashable {
    /// The transition with which images appear.
    package enum TransitionChoice: String, Sendable, CaseIterable {
        case none
        case crossFade = "cross-fade"
        case slide
        case flip
        case zoom

        /// The title in the user interface.
        package var title: String {
            switch self {
            case .none: "None"
            case .crossFade: "Crossfade"
            case .slide: "Slide"
            case .flip: "Flip"
            case .zoom: "Zoom"
            }
        }

        package var transition: ImageTransition {
            switch self {
            case .none: .none
            case .crossFade: .crossFade(duration: .milliseconds(250))
            case .slide: .slide(from: .bottom, duration: .milliseconds(350))
            case .flip: .flip(from: .left, duration: .milliseconds(500))
            case .zoom: .zoom(duration: .milliseconds(300))
            }
        }
    }

    /// The placeholder that a cell shows until its image is loaded.
    package enum PlaceholderChoice: String, Sendable, CaseIterable {
        case none
        case color
        case blurHash = "blurhash"

        /// The title in the user interface.
        package var title: String {
            switch self {
            case .none: "None"
            case .color: "Color"
            case .blurHash: "BlurHash"
            }
        }
    }

    /// The color theme of the window.
    package enum Theme: String, Sendable, CaseIterable {
        case system
        case light
        case dark

        /// The title in the user interface.
        package var title: String {
            switch self {
            case .system: "Follow System"
            case .light: "Light"
            case .dark: "Dark"
            }
        }
    }

    package static let cellSizes = 96...320

    package var transition = TransitionChoice.crossFade
    package var placeholder = PlaceholderChoice.blurHash
    package var policy = CachePolicy.http
    package var theme = Theme.system
    /// The side length of a cell, in points.
    package var cellSize = 168 {
        didSet { cellSize = min(max(cellSize, Self.cellSizes.lowerBound), Self.cellSizes.upperBound) }
    }
    /// Whether previews are shown during a download.
    package var showsPreviews = true
    /// Whether the manager retries failed downloads, which is its default behavior.
    package var retries = true
    /// The network conditions that the album server simulates.
    package var network = SimulatedNetwork()

    package init() {}

    /// Returns the title of a cache policy in the user interface.
    package static func title(_ policy: CachePolicy) -> String {
        switch policy {
        case .http: "Follow HTTP"
        case .cacheFirst: "Prefer Cache"
        case .refresh: "Always Revalidate"
        case .reload: "Reload"
        case .cacheOnly: "Cache Only"
        }
    }
}

/// Requests and options for the cells and for the large view.
extension GallerySettings {
    /// Returns the side length, in pixels, of the square into which the image of a cell is fitted.
    ///
    /// The length is 1.5 times that of the cell, so that images with an aspect ratio of up to 3:2 cover the cell. The
    /// image isn't cropped to the cell because the large view shows it while the full image loads.
    package func thumbnailPixels(scale: Int) -> Int { cellSize * max(1, scale) * 3 / 2 }

    /// Returns the request for the image of a cell.
    package func thumbnail(_ item: GalleryItem, scale: Int) -> ImageRequest {
        let side = Double(thumbnailPixels(scale: scale))
        var request = request(item)
        request.size = .fit(width: side, height: side)
        return request
    }

    /// Returns the request for the image of the large view, which determines its size.
    package func full(_ item: GalleryItem) -> ImageRequest {
        var request = request(item)
        request.priority = .high
        if showsPreviews { request.previews = .progressive }
        return request
    }

    private func request(_ item: GalleryItem) -> ImageRequest {
        var request = ImageRequest(url: item.url)
        // A name such as `a@2x.jpg` must not reduce the size of the image in the gallery.
        request.scale = 1
        request.cachePolicy = policy
        if !retries { request.network.retry = .never }
        return request
    }

    /// Returns the binding options of a cell.
    package func cellOptions(_ item: GalleryItem) -> ImageViewOptions {
        var options = ImageViewOptions(placeholder: placeholder(item), transition: transition.transition)
        options.usesCachedPlaceholder = true
        options.previewTransition = .none
        return options
    }

    /// Returns the binding options of the large view, which shows the image of the cell until the full image is loaded.
    package func fullOptions(_ item: GalleryItem) -> ImageViewOptions {
        var options = ImageViewOptions(
            placeholder: placeholder(item), transition: .crossFade(duration: .milliseconds(150)))
        options.usesCachedPlaceholder = true
        options.offscreenBehavior = .cancel
        return options
    }

    private func placeholder(_ item: GalleryItem) -> ImagePlaceholder {
        switch placeholder {
        case .none: .empty
        case .color: .color(PixelColor(red: 128, green: 132, blue: 140, alpha: 56))
        case .blurHash:
            item.blurHash.map { .blurHash($0, aspectRatio: item.aspectRatio ?? 1) }
                ?? .color(PixelColor(red: 128, green: 132, blue: 140, alpha: 56))
        }
    }
}
