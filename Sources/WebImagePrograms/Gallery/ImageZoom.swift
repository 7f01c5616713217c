// SPDX-License-Identifier: MIT

/// The scale and the visible part of an image, as changed by the scroll wheel, pinch gestures, keys, and drags.
///
/// Lengths are in points. The origin of coordinates is the upper-left corner.
package struct ImageZoom: Sendable, Hashable {
    /// A position.
    package struct Point: Sendable, Hashable {
        package var x: Double
        package var y: Double

        package init(x: Double = 0, y: Double = 0) {
            self.x = x
            self.y = y
        }
    }

    /// A width and a height.
    package struct Extent: Sendable, Hashable {
        package var width: Double
        package var height: Double

        package init(width: Double, height: Double) {
            self.width = width
            self.height = height
        }

        package var isEmpty: Bool { !(width > 0 && height > 0) }
    }

    /// The factor of one zoom step, by key or by a notch of the scroll wheel.
    package static let step = 1.25
    /// The maximum scale, unless a larger one is necessary to fill the view.
    package static let largest = 8.0

    /// The size of the image at 100 percent. While it's `nil`, zooming has no effect.
    package private(set) var imageSize: Extent?
    /// The size of the view.
    package private(set) var view = Extent(width: 0, height: 0)
    /// The scale of the image, where 1 is 100 percent, or `nil` if the image is fitted into the view.
    package private(set) var scale: Double?
    /// The position in the scaled image that's at the upper-left corner of the view.
    package private(set) var offset = Point()

    package init() {}

    /// Replaces the image, and fits the new one into the view. `nil` removes the image.
    package mutating func show(_ picture: Extent?) {
        self.imageSize = picture.flatMap { $0.isEmpty ? nil : $0 }
        fit()
    }

    /// Updates the size of the view and the scroll position.
    package mutating func follow(_ view: Extent, offset: Point) {
        self.view = view
        if let scale, !view.isEmpty {
            let bounded = min(max(scale, range.lowerBound), range.upperBound)
            self.scale = abs(bounded / fitted - 1) > 0.001 ? bounded : nil
        }
        self.offset = clamped(offset)
    }

    // MARK: - Derived values

    /// The scale at which the image fits into the view.
    package var fitted: Double {
        guard let imageSize, !view.isEmpty else { return 1 }
        return min(view.width / imageSize.width, view.height / imageSize.height)
    }

    /// The current scale.
    package var current: Double { scale ?? fitted }

    /// The size of the scaled image.
    package var content: Extent {
        guard let imageSize else { return view }
        return Extent(width: imageSize.width * current, height: imageSize.height * current)
    }

    /// Whether a part of the image is outside of the view.
    package var isCut: Bool { scale != nil && (content.width > view.width + 0.5 || content.height > view.height + 0.5) }

    private var range: ClosedRange<Double> { min(fitted, 1)...max(fitted, Self.largest) }

    // MARK: - Changes

    /// Fits the image into the view.
    package mutating func fit() {
        scale = nil
        offset = Point()
    }

    /// Scales by `factor` and keeps the position at `anchor` in place, as long as the image covers the view on all
    /// sides.
    package mutating func zoom(by factor: Double, at anchor: Point) {
        guard factor.isFinite, factor > 0 else { return }
        show(scale: current * factor, at: anchor)
    }

    /// Sets the scale, limited to the valid range, and keeps the position at `anchor` in place.
    package mutating func show(scale wanted: Double, at anchor: Point) {
        guard imageSize != nil, !view.isEmpty, wanted.isFinite else { return }
        let new = min(max(wanted, range.lowerBound), range.upperBound)
        let old = current
        let margin = self.margin
        // The position of the anchor in the image at 100 percent.
        let place = Point(x: (offset.x + anchor.x - margin.x) / old, y: (offset.y + anchor.y - margin.y) / old)
        guard abs(new / fitted - 1) > 0.001 else { return fit() }
        scale = new
        let shifted = self.margin
        offset = clamped(
            Point(x: place.x * new - anchor.x + shifted.x, y: place.y * new - anchor.y + shifted.y))
    }

    /// Switches from the fitted scale to 100 percent, or to 200 percent if the fitted scale is close to 100 percent.
    /// Any other scale switches to the fitted scale.
    package mutating func toggle(at anchor: Point) {
        guard scale == nil else { return fit() }
        show(scale: abs(fitted - 1) > 0.01 ? 1 : 2, at: anchor)
    }

    /// Moves the image, but not beyond its edges.
    package mutating func pan(x: Double, y: Double) {
        guard scale != nil, x.isFinite, y.isFinite else { return }
        offset = clamped(Point(x: offset.x - x, y: offset.y - y))
    }

    /// The space to the left of and above an image that's smaller than the view.
    private var margin: Point {
        Point(x: max(0, (view.width - content.width) / 2), y: max(0, (view.height - content.height) / 2))
    }

    private func clamped(_ offset: Point) -> Point {
        Point(
            x: min(max(0, offset.x), max(0, content.width - view.width)),
            y: min(max(0, offset.y), max(0, content.height - view.height)))
    }
}
