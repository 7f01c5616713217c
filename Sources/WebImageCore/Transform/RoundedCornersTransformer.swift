// SPDX-License-Identifier: MIT

import CPixelKernels

/// Cuts circular corners, and draws a border along the new edge where one is wanted.
public struct RoundedCornersTransformer: ImageTransformer, Hashable {
    /// Which corners are cut.
    public struct Corners: OptionSet, Sendable, Hashable {
        /// One bit a corner.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Top left.
        public static let topLeading = Corners(rawValue: 1)
        /// Top right.
        public static let topTrailing = Corners(rawValue: 2)
        /// Bottom left.
        public static let bottomLeading = Corners(rawValue: 4)
        /// Bottom right.
        public static let bottomTrailing = Corners(rawValue: 8)
        /// All four.
        public static let all: Corners = [.topLeading, .topTrailing, .bottomLeading, .bottomTrailing]
    }

    /// A line inside the edge.
    public struct Border: Sendable, Hashable {
        /// In the transformer's unit; at most half the short side is used.
        public var width: Double
        /// Drawn over the picture.
        public var color: PixelColor

        /// Creates a border.
        public init(width: Double, color: PixelColor) {
            self.width = width
            self.color = color
        }
    }

    /// Radius in `unit`; at most half the short side is used.
    public let radius: Double
    /// Which corners are cut.
    public let corners: Corners
    /// The line inside the edge, nil for none.
    public let border: Border?
    /// What radius and width mean.
    public let unit: TargetSize.Unit

    /// Creates a transformer: all corners, no border, pixels by default.
    public init(radius: Double, corners: Corners = .all, border: Border? = nil, unit: TargetSize.Unit = .pixels) {
        self.radius = radius
        self.corners = corners
        self.border = border
        self.unit = unit
    }

    /// Name and all parameters.
    public var identity: String {
        let edge = border.map { "\($0.width):\($0.color.hexadecimal)" } ?? "-"
        return "roundedCorners(\(radius),\(corners.rawValue),\(edge),\(unit))"
    }

    /// Cuts. The result is opaque only where the picture was and no corner was cut.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for a radius or a width that is
    ///   NaN, infinite, zero or negative, a ``LimitError`` for a picture that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterCheck(transformer: "roundedCorners")
        let factor = unit == .points ? context.scale : 1
        let half = Double(min(pixels.width, pixels.height)) / 2
        let radius = min(half, try check.length(radius, "radius", times: factor))
        var width = 0.0
        if let border { width = min(half, try check.length(border.width, "border width", times: factor)) }
        if corners.isEmpty && border == nil { return pixels }
        try context.coding.limits.check(result: pixels.size, format: pixels.format)
        let outer = RoundedShape(size: pixels.size, inset: 0, radius: radius, corners: corners)
        let inner = RoundedShape(size: pixels.size, inset: width, radius: radius, corners: corners)
        let canvas = try PixelCanvas(size: pixels.size, format: pixels.format, zeroed: false)
        try cut(pixels, to: outer, inner: inner, into: canvas, context: context.coding)
        canvas.clearPadding()
        return canvas.finish(isOpaque: pixels.isOpaque && corners.isEmpty)
    }

    private func cut(
        _ pixels: PixelBuffer, to outer: RoundedShape, inner: RoundedShape, into canvas: borrowing PixelCanvas,
        context: CodingContext
    ) throws(ImageError) {
        let maximum: Float = pixels.format == .rgba8 ? 255 : 65_535
        let color = (border?.color ?? .clear).premultiplied(maximum: maximum)
        var outerRow = [Float](repeating: 0, count: pixels.width)
        var innerRow = outerRow
        for row in 0..<pixels.height {
            if row.isMultiple(of: 64) { try context.checkpoint() }
            if border == nil, outer.covers(row: row) {
                copy(row, of: pixels, into: canvas)
                continue
            }
            outer.coverage(ofRow: row, into: &outerRow)
            if border != nil { inner.coverage(ofRow: row, into: &innerRow) } else { innerRow = outerRow }
            pixels.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                let from = base + row * pixels.bytesPerRow
                let to = canvas.baseAddress + row * canvas.bytesPerRow
                switch pixels.format {
                case .rgba8:
                    wi_cut_rgba8(
                        from.assumingMemoryBound(to: UInt8.self), to.assumingMemoryBound(to: UInt8.self), outerRow,
                        innerRow, color, pixels.width)
                case .rgba16:
                    wi_cut_rgba16(
                        from.assumingMemoryBound(to: UInt16.self), to.assumingMemoryBound(to: UInt16.self),
                        outerRow, innerRow, color, pixels.width)
                }
            }
        }
    }

    private func copy(_ row: Int, of pixels: PixelBuffer, into canvas: borrowing PixelCanvas) {
        pixels.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            (canvas.baseAddress + row * canvas.bytesPerRow)
                .copyMemory(from: base + row * pixels.bytesPerRow, byteCount: pixels.bytesPerRow)
        }
    }
}

extension ImageTransformer where Self == RoundedCornersTransformer {
    /// Cuts circular corners of `radius` pixels (or points), at most half the short side, with exact
    /// anti-aliasing.
    ///
    /// - Parameters:
    ///   - corners: which corners. Default all.
    ///   - border: a line inside the edge, over the picture. Default none.
    ///   - unit: what lengths mean. Default pixels.
    public static func roundedCorners(
        radius: Double, corners: RoundedCornersTransformer.Corners = .all,
        border: RoundedCornersTransformer.Border? = nil, unit: TargetSize.Unit = .pixels
    ) -> Self {
        RoundedCornersTransformer(radius: radius, corners: corners, border: border, unit: unit)
    }
}
