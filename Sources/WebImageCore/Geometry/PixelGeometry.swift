// SPDX-License-Identifier: MIT

/// A size in device pixels. Width and height are at least zero, and for images, they're at least one.
public struct PixelSize: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The width, in pixels.
    public var width: Int
    /// The height, in pixels.
    public var height: Int

    /// Creates a size in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The product of width and height, or `nil` if it overflows.
    package var area: Int? {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? nil : product
    }

    /// Whether either side is zero or negative.
    package var isEmpty: Bool { width <= 0 || height <= 0 }

    /// The size with width and height swapped.
    package var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// The size as text, for example `640x480`.
    public var description: String { "\(width)x\(height)" }
}

/// A rectangle of whole pixels. The origin is the top-left corner of the image.
public struct PixelRect: Sendable, Hashable, Codable {
    /// The position of the left edge, in pixels.
    public var x: Int
    /// The position of the top edge, in pixels.
    public var y: Int
    /// The width, in pixels.
    public var width: Int
    /// The height, in pixels.
    public var height: Int

    /// Creates a rectangle in pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The size of the rectangle.
    package var size: PixelSize { PixelSize(width: width, height: height) }

    /// Returns the part of the rectangle that's inside an image of the given size with its origin at zero, or `nil` if
    /// there's no overlap.
    package func clamped(to size: PixelSize) -> PixelRect? {
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

/// A rectangle with fractional edges in a source image, for resampling. After DCT scaling, the edge of the actual
/// image may be between two pixels of the decoded buffer.
package struct SampleRect: Sendable, Hashable {
    /// The position of the left edge, in source pixels.
    package var x: Double
    /// The position of the top edge, in source pixels.
    package var y: Double
    /// The width, in source pixels.
    package var width: Double
    /// The height, in source pixels.
    package var height: Double

    /// Creates a rectangle in source pixels.
    package init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates a rectangle that covers a whole image of the given size.
    package init(_ size: PixelSize) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }
}
