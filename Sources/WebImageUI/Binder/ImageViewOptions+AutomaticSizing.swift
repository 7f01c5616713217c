// SPDX-License-Identifier: MIT

import WebImageCore

/// The bounds of a view on screen.
package struct ViewAllocation: Sendable, Hashable {
    /// The width in points, or 0 if the image determines the width.
    package var width: Double
    /// The height in points, or 0 if the image determines the height.
    package var height: Double
    /// The number of device pixels per point. The default is 1.
    package var scaleFactor: Double

    /// Creates an allocation from sizes in points.
    package init(width: Double, height: Double, scaleFactor: Double = 1) {
        self.width = width
        self.height = height
        self.scaleFactor = scaleFactor
    }
}

extension ImageViewOptions {
    /// The rule that derives the size to decode to from the bounds of a view.
    public enum AutomaticSizing: Sendable, Hashable {
        /// Loads the image at full size, without waiting for the bounds of the view.
        case originalSize
        /// Fits the whole image into the bounds (``TargetSize/fit(width:height:unit:)``).
        case fit
        /// Covers the bounds with the image (``TargetSize/fill(width:height:unit:)``). If the aspect ratio of the view
        /// changes by more than a tenth, the view reloads the image because it needs another region of it.
        case fill
    }
}

/// The bounds of a view in device pixels. At most one side is `nil`, which means that it's unconstrained.
struct TargetBounds: Equatable {
    var width: Int?
    var height: Int?

    /// Whether one side is unconstrained.
    var isOpen: Bool { width == nil || height == nil }

    /// Creates bounds from an allocation. Returns `nil` if neither side is a positive, finite number.
    init?(_ allocation: ViewAllocation) {
        func pixels(_ points: Double) -> Int? {
            let length = points * allocation.scaleFactor
            // A value of 2^20 is larger than every screen and too small to cause an overflow.
            guard length.isFinite, length > 0 else { return nil }
            return max(1, Int(min(length, 1_048_576).rounded(.up)))
        }
        width = pixels(allocation.width)
        height = pixels(allocation.height)
        if width == nil, height == nil { return nil }
    }
}

extension ImageViewOptions.AutomaticSizing {
    /// Returns the size to load for `bounds`, or `nil` for the full size.
    func target(for bounds: TargetBounds) -> TargetSize? {
        switch (self, bounds.width, bounds.height) {
        case (.originalSize, _, _): nil
        case (.fill, let width?, let height?): .fill(width: Double(width), height: Double(height))
        case (_, let width, let height): .fit(width: width.map(Double.init), height: height.map(Double.init))
        }
    }

    /// Returns whether a running load for `asked` is insufficient for `bounds`.
    func outgrows(_ asked: TargetBounds, by bounds: TargetBounds) -> Bool {
        guard self != .originalSize else { return false }
        // An image that fits one side may not cover both sides.
        if self == .fill, asked.isOpen, !bounds.isOpen { return true }
        return changesPart(asked, bounds) || grows(asked.width, bounds.width) || grows(asked.height, bounds.height)
    }

    /// Returns whether `shown`, which was loaded for `asked`, is insufficient for `bounds`. This is the case if it
    /// would be enlarged by more than a quarter and the original is larger.
    func outgrows(_ shown: DecodedImage, loadedFor asked: TargetBounds, by bounds: TargetBounds) -> Bool {
        guard outgrows(asked, by: bounds) else { return false }
        let raw = shown.metadata.storedSize
        if shown.size == raw || shown.size == raw.transposed { return false }
        if changesPart(asked, bounds) { return true }
        let across = bounds.width.map { Double($0) / Double(shown.size.width) }
        let down = bounds.height.map { Double($0) / Double(shown.size.height) }
        let factors = [across, down].compactMap { $0 }
        return (self == .fill ? factors.max() : factors.min()) ?? 0 > Self.tolerance
    }

    private static let tolerance = 1.25

    private func grows(_ old: Int?, _ new: Int?) -> Bool {
        // An unconstrained side can have any length.
        guard let old else { return false }
        guard let new else { return true }
        return Double(new) > Double(old) * Self.tolerance
    }

    private func changesPart(_ old: TargetBounds, _ new: TargetBounds) -> Bool {
        guard self == .fill, let oldWidth = old.width, let oldHeight = old.height, let newWidth = new.width,
            let newHeight = new.height
        else { return false }
        let change = Double(newWidth) * Double(oldHeight) / (Double(newHeight) * Double(oldWidth))
        return change > 1.1 || change < 1 / 1.1
    }
}
