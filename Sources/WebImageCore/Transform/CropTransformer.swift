// SPDX-License-Identifier: MIT

/// A transformer that crops an image.
package struct CropTransformer: ImageTransformer, Hashable {
    /// The part of the image to keep. Lengths are in the unit of the transformer.
    package enum Part: Sendable, Hashable {
        /// A rectangle. Its edges are rounded to whole pixels, and areas outside the image are omitted.
        case rect(x: Double, y: Double, width: Double, height: Double)
        /// A size at a corner, at an edge, or in the center. Sides that are longer than those of the image are
        /// shortened.
        case anchored(width: Double, height: Double, StandardTransformer.Anchor)
    }

    /// The part of the image to keep.
    package let part: Part
    /// The unit of the lengths.
    package let unit: TargetSize.Unit

    /// Creates a transformer. By default, the lengths are in pixels.
    package init(_ part: Part, unit: TargetSize.Unit = .pixels) {
        self.part = part
        self.unit = unit
    }

    /// The name and all parameters of the transformer.
    package var identifier: String {
        switch part {
        case .rect(let x, let y, let width, let height): "crop(rect:\(x):\(y):\(width):\(height),\(unit))"
        case .anchored(let width, let height, let anchor):
            "crop(anchored:\(width):\(height):\(anchor.rawValue),\(unit))"
        }
    }

    /// Crops an image. If the part covers the whole image, this method returns the image unchanged.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if a length is NaN,
    ///   infinite, zero, or negative, ``ImageError/ProcessingFailure/regionOutsideImage(transformer:)`` if the part is
    ///   outside the image, or a ``ImageError/LimitFailure`` if the result is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let rect = try rect(in: pixels.size, factor: unit == .points ? context.scale : 1)
        guard let kept = rect.clamped(to: pixels.size) else {
            throw .processing(.regionOutsideImage(transformer: "crop"))
        }
        if kept.size == pixels.size { return pixels }
        try context.limits.check(result: kept.size, format: pixels.format)
        try context.checkCancellation()
        let canvas = try PixelCanvas(size: kept.size, format: pixels.format, cleared: false)
        let bytesPerPixel = pixels.format.bytesPerPixel
        pixels.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            for row in 0..<kept.height {
                let from = base + (kept.y + row) * pixels.bytesPerRow + kept.x * bytesPerPixel
                (canvas.baseAddress + row * canvas.bytesPerRow)
                    .copyMemory(from: from, byteCount: kept.width * bytesPerPixel)
            }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: pixels.isOpaque)
    }

    private func rect(in size: PixelSize, factor: Double) throws(ImageError) -> PixelRect {
        let check = ParameterValidator(transformer: "crop")
        switch part {
        case .rect(let x, let y, let width, let height):
            let width = try check.length(width, "width", times: factor)
            let height = try check.length(height, "height", times: factor)
            let left = try check.position(x, "x", times: factor)
            let top = try check.position(y, "y", times: factor)
            let edges = (
                x: Int(left.rounded()), y: Int(top.rounded()), right: Int((left + width).rounded()),
                bottom: Int((top + height).rounded())
            )
            return PixelRect(
                x: edges.x, y: edges.y, width: max(1, edges.right - edges.x), height: max(1, edges.bottom - edges.y))
        case .anchored(let width, let height, let anchor):
            let wanted = PixelSize(
                width: max(1, Int(try check.length(width, "width", times: factor).rounded())),
                height: max(1, Int(try check.length(height, "height", times: factor).rounded())))
            return anchor.rect(of: wanted, in: size)
        }
    }
}

extension CropTransformer: GeometricTransformer {
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap? {
        let rect = try rect(in: size, factor: unit == .points ? context.scale : 1)
        guard let kept = rect.clamped(to: size) else { return nil }
        let window = SampleRect(
            x: Double(kept.x), y: Double(kept.y), width: Double(kept.width), height: Double(kept.height))
        return try gainMap.part(window, of: size, to: kept.size, context: context)
    }
}

extension StandardTransformer.Anchor {
    /// Returns the rectangle at the anchor with the size of `wanted`, limited to the size of the image.
    func rect(of wanted: PixelSize, in size: PixelSize) -> PixelRect {
        let width = min(wanted.width, size.width)
        let height = min(wanted.height, size.height)
        let x =
            switch self {
            case .topLeading, .leading, .bottomLeading: 0
            case .top, .center, .bottom: (size.width - width) / 2
            case .topTrailing, .trailing, .bottomTrailing: size.width - width
            }
        let y =
            switch self {
            case .topLeading, .top, .topTrailing: 0
            case .leading, .center, .trailing: (size.height - height) / 2
            case .bottomLeading, .bottom, .bottomTrailing: size.height - height
            }
        return PixelRect(x: x, y: y, width: width, height: height)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that keeps a rectangle with its top-left corner at `x`, `y`. The transformer throws
    /// ``ImageError/ProcessingFailure/regionOutsideImage(transformer:)`` if the rectangle contains no pixel of the
    /// image.
    public static func crop(
        x: Double, y: Double, width: Double, height: Double, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(CropTransformer(.rect(x: x, y: y, width: width, height: height), unit: unit))
    }

    /// Returns a transformer that keeps `width` × `height` at `anchor`. The default is the center.
    public static func crop(
        width: Double, height: Double, anchor: StandardTransformer.Anchor = .center, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(CropTransformer(.anchored(width: width, height: height, anchor), unit: unit))
    }
}
