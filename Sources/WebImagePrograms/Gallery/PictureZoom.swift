// SPDX-License-Identifier: MIT

/// How large a picture is shown, and which part of it: what wheel, pinch, keys and drags come to. A value; lengths are in
/// points, counted from the upper left corner.
package struct PictureZoom: Sendable, Hashable {
    /// A place.
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

    /// What a step by key or notch of the wheel enlarges by.
    package static let step = 1.25
    /// Nothing is shown larger than this, unless it takes that to fill the view.
    package static let largest = 8.0

    /// The picture at 100 %; nil while it is not known, and then nothing can be zoomed.
    package private(set) var picture: Extent?
    /// The room there is.
    package private(set) var view = Extent(width: 0, height: 0)
    /// What the picture is enlarged by, 1 is 100 %; nil where it is fitted into the view.
    package private(set) var scale: Double?
    /// The part of the enlarged picture that lies in the view's upper left corner.
    package private(set) var offset = Point()

    package init() {}

    /// Another picture, fitted; or none.
    package mutating func show(_ picture: Extent?) {
        self.picture = picture.flatMap { $0.isEmpty ? nil : $0 }
        fit()
    }

    /// The view has so much room, and shows the part that begins at `offset`.
    package mutating func follow(_ view: Extent, offset: Point) {
        self.view = view
        if let scale, !view.isEmpty {
            let bounded = min(max(scale, range.lowerBound), range.upperBound)
            self.scale = abs(bounded / fitted - 1) > 0.001 ? bounded : nil
        }
        self.offset = clamped(offset)
    }

    // MARK: - What follows

    /// What the fitted picture is enlarged by.
    package var fitted: Double {
        guard let picture, !view.isEmpty else { return 1 }
        return min(view.width / picture.width, view.height / picture.height)
    }

    /// What the picture is enlarged by now.
    package var current: Double { scale ?? fitted }

    /// The size of the enlarged picture.
    package var content: Extent {
        guard let picture else { return view }
        return Extent(width: picture.width * current, height: picture.height * current)
    }

    /// Whether there is more of the picture than can be seen.
    package var isCut: Bool { scale != nil && (content.width > view.width + 0.5 || content.height > view.height + 0.5) }

    private var range: ClosedRange<Double> { min(fitted, 1)...max(fitted, Self.largest) }

    // MARK: - Changes

    /// All of the picture, as large as it can be.
    package mutating func fit() {
        scale = nil
        offset = Point()
    }

    /// Enlarges by `factor`; what is at `anchor` in the view stays there, as far as there is picture on all sides.
    package mutating func zoom(by factor: Double, at anchor: Point) {
        guard factor.isFinite, factor > 0 else { return }
        show(scale: current * factor, at: anchor)
    }

    /// Shows the picture at `scale`, within what makes sense; what is at `anchor` in the view stays there.
    package mutating func show(scale wanted: Double, at anchor: Point) {
        guard picture != nil, !view.isEmpty, wanted.isFinite else { return }
        let new = min(max(wanted, range.lowerBound), range.upperBound)
        let old = current
        let margin = self.margin
        // Where the anchor is in the picture at 100 %.
        let place = Point(x: (offset.x + anchor.x - margin.x) / old, y: (offset.y + anchor.y - margin.y) / old)
        guard abs(new / fitted - 1) > 0.001 else { return fit() }
        scale = new
        let shifted = self.margin
        offset = clamped(
            Point(x: place.x * new - anchor.x + shifted.x, y: place.y * new - anchor.y + shifted.y))
    }

    /// From fitted to 100 %, or twice as large where that is the same; from everything else to fitted.
    package mutating func toggle(at anchor: Point) {
        guard scale == nil else { return fit() }
        show(scale: abs(fitted - 1) > 0.01 ? 1 : 2, at: anchor)
    }

    /// Moves the picture under the view, as far as there is some.
    package mutating func pan(x: Double, y: Double) {
        guard scale != nil, x.isFinite, y.isFinite else { return }
        offset = clamped(Point(x: offset.x - x, y: offset.y - y))
    }

    /// What is left free on the left and above a picture that is smaller than the view.
    private var margin: Point {
        Point(x: max(0, (view.width - content.width) / 2), y: max(0, (view.height - content.height) / 2))
    }

    private func clamped(_ offset: Point) -> Point {
        Point(
            x: min(max(0, offset.x), max(0, content.width - view.width)),
            y: min(max(0, offset.y), max(0, content.height - view.height)))
    }
}
