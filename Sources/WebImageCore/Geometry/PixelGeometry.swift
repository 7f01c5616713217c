// SPDX-License-Identifier: MIT

/// Width and height in device pixels. Both are at least zero; a picture's are at least one.
public struct PixelSize: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Pixels from left to right.
    public var width: Int
    /// Pixels from top to bottom.
    public var height: Int

    /// Creates a size in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// `width` × `height`, or nil where the product overflows.
    public var area: Int? {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? nil : product
    }

    /// True when either side is zero or negative.
    public var isEmpty: Bool { width <= 0 || height <= 0 }

    /// The size with its sides exchanged.
    public var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// `640x480`.
    public var description: String { "\(width)x\(height)" }
}

/// A rectangle of whole pixels; the origin is the top left corner of the picture.
public struct PixelRect: Sendable, Hashable, Codable {
    /// Left edge in pixels.
    public var x: Int
    /// Top edge in pixels.
    public var y: Int
    /// Pixels from left to right.
    public var width: Int
    /// Pixels from top to bottom.
    public var height: Int

    /// Creates a rectangle in pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The rectangle's extent without its place.
    public var size: PixelSize { PixelSize(width: width, height: height) }

    /// The part that lies inside a picture of `size` with its origin at zero; nil where nothing does.
    public func clamped(to size: PixelSize) -> PixelRect? {
        let left = max(0, x)
        let top = max(0, y)
        let (rawRight, rightOverflow) = x.addingReportingOverflow(width)
        let (rawBottom, bottomOverflow) = y.addingReportingOverflow(height)
        let right = min(size.width, rightOverflow ? Int.max : rawRight)
        let bottom = min(size.height, bottomOverflow ? Int.max : rawBottom)
        guard right > left, bottom > top else { return nil }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}

/// A rectangle with fractional edges in a source picture, as resampling needs it: after DCT scaling
/// the true picture may end between two pixels of the decoded buffer.
public struct SampleRect: Sendable, Hashable {
    /// Left edge in source pixels.
    public var x: Double
    /// Top edge in source pixels.
    public var y: Double
    /// Extent in source pixels.
    public var width: Double
    /// Extent in source pixels.
    public var height: Double

    /// Creates a rectangle in source pixels.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The whole of a picture of `size`.
    public init(_ size: PixelSize) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }
}
