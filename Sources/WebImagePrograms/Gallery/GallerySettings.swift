// SPDX-License-Identifier: MIT

import WebImage

/// All that can be set in the gallery. A value.
package struct GallerySettings: Sendable, Hashable {
    /// How pictures come in.
    package enum TransitionChoice: String, Sendable, CaseIterable {
        case none
        case crossFade = "cross-fade"
        case slide
        case flip
        case zoom

        /// For people.
        package var title: String {
            switch self {
            case .none: "None"
            case .crossFade: "Cross-fade"
            case .slide: "Slide"
            case .flip: "Flip"
            case .zoom: "Zoom"
            }
        }

        package var transition: Transition {
            switch self {
            case .none: .none
            case .crossFade: .crossFade(duration: 0.25)
            case .slide: .slide(from: .bottom, duration: 0.35)
            case .flip: .flip(from: .left, duration: 0.5)
            case .zoom: .zoom(duration: 0.3)
            }
        }
    }

    /// What is shown until a picture is there.
    package enum PlaceholderChoice: String, Sendable, CaseIterable {
        case none
        case color
        case blurHash = "blurhash"

        /// For people.
        package var title: String {
            switch self {
            case .none: "None"
            case .color: "Colour"
            case .blurHash: "BlurHash"
            }
        }
    }

    /// The colours of the window.
    package enum Theme: String, Sendable, CaseIterable {
        case system
        case light
        case dark

        /// For people.
        package var title: String {
            switch self {
            case .system: "System"
            case .light: "Light"
            case .dark: "Dark"
            }
        }
    }

    package static let cellSides = 96...320

    package var transition = TransitionChoice.crossFade
    package var placeholder = PlaceholderChoice.blurHash
    package var policy = CachePolicy.http
    package var theme = Theme.system
    /// Points of a cell's side.
    package var cellSide = 168 {
        didSet { cellSide = min(max(cellSide, Self.cellSides.lowerBound), Self.cellSides.upperBound) }
    }
    /// Whether partial pictures are shown while bytes come in.
    package var showsPreviews = true
    /// Whether what failed is tried again by itself, as a manager does by default.
    package var retries = true
    /// How the album's server behaves.
    package var network = NetworkBehaviour()

    package init() {}

    /// For people.
    package static func title(_ policy: CachePolicy) -> String {
        switch policy {
        case .http: "As HTTP says"
        case .cacheFirst: "Cache first"
        case .refresh: "Always ask the server"
        case .reload: "Reload"
        case .cacheOnly: "Cache only"
        }
    }
}

/// What is asked of the library for a cell and for the large view.
extension GallerySettings {
    /// Side, in pixels, of the box a cell's picture is fitted into: half as large again as the cell, so that pictures up
    /// to 3:2 cover it. Not cut to the cell, for then it could not stand in for the whole picture in the large view.
    package func thumbnailPixels(scale: Int) -> Int { cellSide * max(1, scale) * 3 / 2 }

    /// The picture of a cell.
    package func thumbnail(_ item: GalleryItem, scale: Int) -> ImageRequest {
        let side = Double(thumbnailPixels(scale: scale))
        var request = request(item)
        request.size = .fit(width: side, height: side)
        return request
    }

    /// The picture of the large view; its size is the view's.
    package func full(_ item: GalleryItem) -> ImageRequest {
        var request = request(item)
        request.priority = .high
        if showsPreviews { request.preview = .progressive }
        return request
    }

    private func request(_ item: GalleryItem) -> ImageRequest {
        var request = ImageRequest(item.url)
        // A name such as a@2x.jpg does not make the gallery's pictures smaller.
        request.scale = 1
        request.cachePolicy = policy
        if !retries { request.retry = .never }
        return request
    }

    /// How a cell shows its picture.
    package func cellOptions(_ item: GalleryItem) -> BindingOptions {
        var options = BindingOptions(placeholder: placeholder(item), transition: transition.transition)
        options.showsOtherSizes = true
        options.previewTransition = .none
        return options
    }

    /// How the large view shows its picture: with the cell's until the whole one is there.
    package func fullOptions(_ item: GalleryItem) -> BindingOptions {
        var options = BindingOptions(placeholder: placeholder(item), transition: .crossFade(duration: 0.15))
        options.showsOtherSizes = true
        options.unmapping = .cancel
        return options
    }

    private func placeholder(_ item: GalleryItem) -> Placeholder {
        switch placeholder {
        case .none: .empty
        case .color: .color(PixelColor(red: 128, green: 132, blue: 140, alpha: 56))
        case .blurHash:
            item.blurHash.map { .blurHash($0, aspectRatio: item.aspectRatio ?? 1) }
                ?? .color(PixelColor(red: 128, green: 132, blue: 140, alpha: 56))
        }
    }
}
