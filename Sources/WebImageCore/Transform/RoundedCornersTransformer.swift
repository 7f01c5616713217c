// SPDX-License-Identifier: MIT

import CPixelKernels

/// A transformer that rounds the corners of an image and optionally draws a border along the new edge.
package struct RoundedCornersTransformer: ImageTransformer, Hashable {
    /// A line along the inside of the edge.
    package struct Border: Sendable, Hashable {
        /// The width in the unit of the transformer. At most half of the shorter side is used.
        package var width: Double
        /// The color, which is drawn over the image.
        package var color: PixelColor

        /// Creates a border.
        package init(width: Double, color: PixelColor) {
            self.width = width
            self.color = color
        }
    }

    /// The radius of the corners.
    package enum Radius: Sendable, Hashable {
        /// A length in the unit of the transformer.
        case length(Double)
        /// A fraction of the shorter side, greater than 0 and at most 1. Fractions above 0.5 have the same effect as
        /// 0.5.
        case fraction(Double)
    }

    /// The radius. At most half of the shorter side is used.
    package let radius: Radius
    /// The corners to round.
    package let corners: StandardTransformer.Corners
    /// The line along the inside of the edge, or `nil` for no line.
    package let border: Border?
    /// The unit of a radius that's a length, and of the border width.
    package let unit: TargetSize.Unit

    /// Creates a transformer. By default, it rounds all corners, draws no border, and uses pixels.
    package init(
        radius: Double, corners: StandardTransformer.Corners = .all, border: Border? = nil,
        unit: TargetSize.Unit = .pixels
    ) {
        self.init(.length(radius), corners: corners, border: border, unit: unit)
    }

    /// Creates a transformer with a radius that's a length or a fraction. By default, it rounds all corners, draws no
    /// border, and uses pixels.
    package init(
        _ radius: Radius, corners: StandardTransformer.Corners = .all, border: Border? = nil,
        unit: TargetSize.Unit = .pixels
    ) {
        self.radius = radius
        self.corners = corners
        self.border = border
        self.unit = unit
    }

    /// The name and all parameters of the transformer.
    package var identifier: String {
        let edge = border.map { "\($0.width):\($0.color.hexadecimal)" } ?? "-"
        let length =
            switch radius {
            case .length(let length): "\(length)"
            case .fraction(let fraction): "fraction:\(fraction)"
            }
        return "roundedCorners(\(length),\(corners.rawValue),\(edge),\(unit))"
    }

    /// Rounds the corners of an image. The result is opaque only if the image is opaque and no corner is rounded.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the radius or the
    ///   border width is NaN, infinite, zero, or negative or a fraction exceeds 1, or an ``ImageError/LimitFailure`` if
    ///   the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterValidator(transformer: "roundedCorners")
        let factor = unit == .points ? context.scale : 1
        let half = Double(min(pixels.width, pixels.height)) / 2
        let radius = min(half, try pixelRadius(in: pixels.size, check, factor: factor))
        var width = 0.0
        if let border { width = min(half, try check.length(border.width, "border width", times: factor)) }
        if corners.isEmpty && border == nil { return pixels }
        try context.limits.check(result: pixels.size, format: pixels.format)
        let outer = RoundedShape(size: pixels.size, inset: 0, radius: radius, corners: corners)
        let inner = RoundedShape(size: pixels.size, inset: width, radius: radius, corners: corners)
        let canvas = try PixelCanvas(size: pixels.size, format: pixels.format, cleared: false)
        try cut(pixels, to: outer, inner: inner, into: canvas, context: context)
        canvas.clearPadding()
        return canvas.finish(isOpaque: pixels.isOpaque && corners.isEmpty)
    }

    private func pixelRadius(
        in size: PixelSize, _ check: ParameterValidator, factor: Double
    ) throws(ImageError) -> Double {
        switch radius {
        case .length(let length): return try check.length(length, "radius", times: factor)
        case .fraction(let fraction):
            // A fraction above 1 is probably a percentage.
            guard fraction > 0, fraction <= 1 else { throw check.invalid("radius fraction", "\(fraction)") }
            return fraction * Double(min(size.width, size.height))
        }
    }

    private func cut(
        _ pixels: PixelBuffer, to outer: RoundedShape, inner: RoundedShape, into canvas: borrowing PixelCanvas,
        context: ImageProcessingContext
    ) throws(ImageError) {
        let color = (border?.color ?? .clear).premultiplied(maximum: pixels.format.maximum)
        let kernels = pixels.format.kernels
        var outerRow = [Float](repeating: 0, count: pixels.width)
        var innerRow = outerRow
        for row in 0..<pixels.height {
            if row.isMultiple(of: 64) { try context.checkCancellation() }
            if border == nil, outer.covers(row: row) {
                copy(row, of: pixels, into: canvas)
                continue
            }
            outer.coverage(ofRow: row, into: &outerRow)
            if border != nil { inner.coverage(ofRow: row, into: &innerRow) } else { innerRow = outerRow }
            pixels.withRow(row) { from in
                let to = canvas.baseAddress + row * canvas.bytesPerRow
                kernels.cut(from, to, outerRow, innerRow, color, pixels.width)
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

extension RoundedCornersTransformer: GeometricTransformer {
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap? {
        // Corners only become transparent, but the color of a line has no gain.
        border == nil ? gainMap : nil
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that rounds corners with exact anti-aliasing.
    ///
    /// - Parameters:
    ///   - radius: The radius. At most half of the shorter side is used.
    ///   - corners: The corners to round. The default is all corners.
    ///   - borderWidth: The width of a line along the inside of the edge. The default is 0, which draws no line.
    ///   - borderColor: The color of the line, which is drawn over the image. The default is transparent.
    ///   - unit: The unit of the lengths. The default is pixels.
    public static func roundedCorners(
        radius: Double, corners: StandardTransformer.Corners = .all, borderWidth: Double = 0,
        borderColor: PixelColor = .clear, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        let border = borderWidth == 0 ? nil : RoundedCornersTransformer.Border(width: borderWidth, color: borderColor)
        return StandardTransformer(
            RoundedCornersTransformer(radius: radius, corners: corners, border: border, unit: unit))
    }

    /// Returns a transformer that rounds corners with a radius that's relative to the size of the image.
    ///
    /// - Parameters:
    ///   - radiusFraction: The radius as a fraction of the shorter side, greater than 0 and at most 1. Fractions of 0.5
    ///     and more round the shorter side completely.
    ///   - corners: The corners to round. The default is all corners.
    ///   - borderWidth: The width of a line along the inside of the edge. The default is 0, which draws no line.
    ///   - borderColor: The color of the line, which is drawn over the image. The default is transparent.
    ///   - unit: The unit of the border width. The default is pixels.
    public static func roundedCorners(
        radiusFraction: Double, corners: StandardTransformer.Corners = .all, borderWidth: Double = 0,
        borderColor: PixelColor = .clear, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        let border = borderWidth == 0 ? nil : RoundedCornersTransformer.Border(width: borderWidth, color: borderColor)
        return StandardTransformer(
            RoundedCornersTransformer(.fraction(radiusFraction), corners: corners, border: border, unit: unit))
    }
}
