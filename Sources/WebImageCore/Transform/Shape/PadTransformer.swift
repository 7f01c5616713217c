// SPDX-License-Identifier: MIT

/// A transformer that moves each edge outward, which adds pixels of a color, or inward, which crops the image.
package struct PadTransformer: ImageTransformer, Hashable {
    /// The distances by which the edges move. Positive values move an edge outward, and negative values move it
    /// inward.
    package struct Edges: Sendable, Hashable {
        /// The distance of the top edge.
        package var top: Double
        /// The distance of the left edge.
        package var leading: Double
        /// The distance of the bottom edge.
        package var bottom: Double
        /// The distance of the right edge.
        package var trailing: Double

        /// Creates edges. Omitted edges don't move.
        package init(top: Double = 0, leading: Double = 0, bottom: Double = 0, trailing: Double = 0) {
            self.top = top
            self.leading = leading
            self.bottom = bottom
            self.trailing = trailing
        }

        /// Creates edges that all move by the same length.
        package init(all length: Double) {
            self.init(top: length, leading: length, bottom: length, trailing: length)
        }

        var identity: String { "\(top):\(leading):\(bottom):\(trailing)" }
    }

    /// The distances by which the edges move.
    package let edges: Edges
    /// The color of added pixels.
    package let color: PixelColor
    /// The unit of the lengths.
    package let unit: TargetSize.Unit

    /// Creates a transformer. By default, added pixels are transparent, and the lengths are in pixels.
    package init(_ edges: Edges, color: PixelColor = .clear, unit: TargetSize.Unit = .pixels) {
        self.edges = edges
        self.color = color
        self.unit = unit
    }

    /// The name and all parameters of the transformer.
    package var identifier: String { "pad(\(edges.identity),\(color.hexadecimal),\(unit))" }

    /// Pads and crops an image. The lengths are rounded to whole pixels. The result is opaque if the image is opaque
    /// and either the color is opaque or no pixels were added.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if a length is NaN or
    ///   infinite, ``ImageError/ProcessingFailure/regionOutsideImage(transformer:)`` if nothing of the image remains,
    ///   or an ``ImageError/LimitFailure`` if the result is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterValidator(transformer: "pad")
        let factor = unit == .points ? context.scale : 1
        guard factor.isFinite, factor > 0 else { throw check.invalid("scale", "\(factor)") }
        let top = Int(try check.position(edges.top, "top", times: factor).rounded())
        let leading = Int(try check.position(edges.leading, "leading", times: factor).rounded())
        let bottom = Int(try check.position(edges.bottom, "bottom", times: factor).rounded())
        let trailing = Int(try check.position(edges.trailing, "trailing", times: factor).rounded())
        let frame = PixelRect(
            x: -leading, y: -top, width: pixels.width + leading + trailing, height: pixels.height + top + bottom)
        return try PadAndCrop.framed(pixels, by: frame, color: color, name: "pad", context: context)
    }
}

/// A namespace for the function that crops an image from an infinite background of one color.
enum PadAndCrop {
    /// Returns the content of `frame`, in the coordinates of the image.
    static func framed(
        _ pixels: PixelBuffer, by frame: PixelRect, color: PixelColor, name: String, context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        if frame == PixelRect(x: 0, y: 0, width: pixels.width, height: pixels.height) { return pixels }
        guard !frame.size.isEmpty, let kept = frame.clamped(to: pixels.size) else {
            throw .processing(.regionOutsideImage(transformer: name))
        }
        try context.limits.check(result: frame.size, format: pixels.format)
        try context.checkCancellation()
        let canvas = try PixelCanvas(size: frame.size, format: pixels.format, cleared: false)
        let fill = color.row(count: frame.width, format: pixels.format)
        let bytesPerPixel = pixels.format.bytesPerPixel
        var checkpoints = CancellationChecker(context)
        for row in 0..<frame.height {
            try checkpoints.count(pixels: frame.width)
            let to = canvas.baseAddress + row * canvas.bytesPerRow
            let source = row + frame.y
            let isInside = source >= kept.y && source < kept.y + kept.height
            if !isInside || kept.width < frame.width {
                fill.withUnsafeBytes { bytes in
                    if let start = bytes.baseAddress { to.copyMemory(from: start, byteCount: bytes.count) }
                }
            }
            guard isInside else { continue }
            pixels.withRow(source) { from in
                (to + (kept.x - frame.x) * bytesPerPixel)
                    .copyMemory(from: from + kept.x * bytesPerPixel, byteCount: kept.width * bytesPerPixel)
            }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: pixels.isOpaque && (color.alpha == 255 || kept.size == frame.size))
    }
}

extension PadTransformer: GeometricTransformer {
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap? {
        let pad = PadTransformer(edges, color: gainMap.neutralColor, unit: unit)
        return try gainMap.transformed(by: pad, atSizeOf: size, context: context)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that moves all edges outward by `length`. The default color of added pixels is
    /// transparent.
    public static func pad(
        _ length: Double, color: PixelColor = .clear, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(PadTransformer(.init(all: length), color: color, unit: unit))
    }

    /// Returns a transformer that moves each edge outward (positive lengths) or inward (negative lengths). The default
    /// color of added pixels is transparent.
    public static func pad(
        top: Double, leading: Double, bottom: Double, trailing: Double, color: PixelColor = .clear,
        unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            PadTransformer(
                .init(top: top, leading: leading, bottom: bottom, trailing: trailing), color: color, unit: unit))
    }

    /// Returns a transformer that crops `length` from all edges.
    public static func inset(_ length: Double, unit: TargetSize.Unit = .pixels) -> StandardTransformer {
        StandardTransformer(PadTransformer(.init(all: -length), unit: unit))
    }
}
