// SPDX-License-Identifier: MIT

/// Keeps a part of a picture.
public struct CropTransformer: ImageTransformer, Hashable {
    /// Where a part of a given size lies.
    public enum Anchor: String, Sendable, Hashable, CaseIterable {
        case topLeading, top, topTrailing, leading, center, trailing, bottomLeading, bottom, bottomTrailing
    }

    /// Which part is kept. Lengths are in the transformer's unit.
    public enum Part: Sendable, Hashable {
        /// A rectangle; edges are rounded to whole pixels, what lies outside the picture is left out.
        case rect(x: Double, y: Double, width: Double, height: Double)
        /// A size at a corner, an edge or the middle; sides longer than the picture's are shortened.
        case anchored(width: Double, height: Double, Anchor)
    }

    /// Which part is kept.
    public let part: Part
    /// What the lengths mean.
    public let unit: TargetSize.Unit

    /// Creates a transformer; lengths are pixels by default.
    public init(_ part: Part, unit: TargetSize.Unit = .pixels) {
        self.part = part
        self.unit = unit
    }

    /// Name and all parameters.
    public var identity: String {
        switch part {
        case .rect(let x, let y, let width, let height): "crop(rect:\(x):\(y):\(width):\(height),\(unit))"
        case .anchored(let width, let height, let anchor):
            "crop(anchored:\(width):\(height):\(anchor.rawValue),\(unit))"
        }
    }

    /// Crops. A part that is the whole picture returns it as it is.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for lengths that are NaN,
    ///   infinite, zero or negative, ``TransformError/outsidePicture(transformer:)``, a ``LimitError`` for a
    ///   result that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let rect = try rect(in: pixels.size, factor: unit == .points ? context.scale : 1)
        guard let kept = rect.clamped(to: pixels.size) else {
            throw .transform(.outsidePicture(transformer: "crop"))
        }
        if kept.size == pixels.size { return pixels }
        try context.coding.limits.check(result: kept.size, format: pixels.format)
        try context.coding.checkpoint()
        let canvas = try PixelCanvas(size: kept.size, format: pixels.format, zeroed: false)
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
        let check = ParameterCheck(transformer: "crop")
        switch part {
        case .rect(let x, let y, let width, let height):
            let width = try check.length(width, "width", times: factor)
            let height = try check.length(height, "height", times: factor)
            let left = try check.place(x, "x", times: factor)
            let top = try check.place(y, "y", times: factor)
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
            return anchor.place(wanted, in: size)
        }
    }
}

extension CropTransformer.Anchor {
    /// The rectangle of `wanted`, shortened to the picture, that lies at the anchor.
    func place(_ wanted: PixelSize, in size: PixelSize) -> PixelRect {
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

extension ImageTransformer where Self == CropTransformer {
    /// Keeps the rectangle from `x`, `y` on. Throws `outsidePicture` where no pixel of the picture lies in it.
    public static func crop(
        x: Double, y: Double, width: Double, height: Double, unit: TargetSize.Unit = .pixels
    ) -> Self {
        CropTransformer(.rect(x: x, y: y, width: width, height: height), unit: unit)
    }

    /// Keeps `rect`, in pixels.
    public static func crop(_ rect: PixelRect) -> Self {
        .crop(x: Double(rect.x), y: Double(rect.y), width: Double(rect.width), height: Double(rect.height))
    }

    /// Keeps `width` × `height` at `anchor`, the middle by default.
    public static func crop(
        width: Double, height: Double, anchor: CropTransformer.Anchor = .center, unit: TargetSize.Unit = .pixels
    ) -> Self {
        CropTransformer(.anchored(width: width, height: height, anchor), unit: unit)
    }
}
