// SPDX-License-Identifier: MIT

/// Moves each edge outwards, filling with a colour, or inwards, cutting.
public struct PadTransformer: ImageTransformer, Hashable {
    /// How far each edge moves: outwards where positive, inwards where negative.
    public struct Edges: Sendable, Hashable {
        /// The upper edge.
        public var top: Double
        /// The left edge.
        public var leading: Double
        /// The lower edge.
        public var bottom: Double
        /// The right edge.
        public var trailing: Double

        /// Creates edges; those left out stay.
        public init(top: Double = 0, leading: Double = 0, bottom: Double = 0, trailing: Double = 0) {
            self.top = top
            self.leading = leading
            self.bottom = bottom
            self.trailing = trailing
        }

        /// All four by the same length.
        public init(all length: Double) {
            self.init(top: length, leading: length, bottom: length, trailing: length)
        }

        var identity: String { "\(top):\(leading):\(bottom):\(trailing)" }
    }

    /// How far each edge moves.
    public let edges: Edges
    /// What fills new pixels.
    public let color: PixelColor
    /// What the lengths mean.
    public let unit: TargetSize.Unit

    /// Creates a transformer: transparent, pixels by default.
    public init(_ edges: Edges, color: PixelColor = .clear, unit: TargetSize.Unit = .pixels) {
        self.edges = edges
        self.color = color
        self.unit = unit
    }

    /// Name and all parameters.
    public var identity: String { "pad(\(edges.identity),\(color.hexadecimal),\(unit))" }

    /// Pads and cuts; lengths are rounded to whole pixels. The result is opaque where the picture was and the colour
    /// is, or nothing was added.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for lengths that are NaN or
    ///   infinite, ``TransformError/outsidePicture(transformer:)`` where nothing of the picture is left, a
    ///   ``LimitError`` for a result that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterCheck(transformer: "pad")
        let factor = unit == .points ? context.scale : 1
        guard factor.isFinite, factor > 0 else { throw check.invalid("scale", "\(factor)") }
        let top = Int(try check.place(edges.top, "top", times: factor).rounded())
        let leading = Int(try check.place(edges.leading, "leading", times: factor).rounded())
        let bottom = Int(try check.place(edges.bottom, "bottom", times: factor).rounded())
        let trailing = Int(try check.place(edges.trailing, "trailing", times: factor).rounded())
        let frame = PixelRect(
            x: -leading, y: -top, width: pixels.width + leading + trailing, height: pixels.height + top + bottom)
        return try PixelFraming.framed(pixels, by: frame, color: color, name: "pad", context: context.coding)
    }
}

/// Cuts a picture out of an endless plane of one colour on which another one lies.
enum PixelFraming {
    /// What `frame`, in the picture's coordinates, shows.
    static func framed(
        _ pixels: PixelBuffer, by frame: PixelRect, color: PixelColor, name: String, context: CodingContext
    ) throws(ImageError) -> PixelBuffer {
        if frame == PixelRect(x: 0, y: 0, width: pixels.width, height: pixels.height) { return pixels }
        guard !frame.size.isEmpty, let kept = frame.clamped(to: pixels.size) else {
            throw .transform(.outsidePicture(transformer: name))
        }
        try context.limits.check(result: frame.size, format: pixels.format)
        try context.checkpoint()
        let canvas = try PixelCanvas(size: frame.size, format: pixels.format, zeroed: false)
        let fill = color.row(count: frame.width, format: pixels.format)
        let bytesPerPixel = pixels.format.bytesPerPixel
        var checkpoints = Checkpoints(context)
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

extension ImageTransformer where Self == PadTransformer {
    /// Moves each edge: outwards where positive, inwards where negative.
    ///
    /// - Parameters:
    ///   - edges: how far.
    ///   - color: what fills new pixels. Default transparent.
    ///   - unit: what the lengths mean. Default pixels.
    public static func pad(
        _ edges: PadTransformer.Edges, color: PixelColor = .clear, unit: TargetSize.Unit = .pixels
    ) -> Self {
        PadTransformer(edges, color: color, unit: unit)
    }

    /// Moves all edges outwards by `length`.
    public static func pad(_ length: Double, color: PixelColor = .clear, unit: TargetSize.Unit = .pixels) -> Self {
        PadTransformer(.init(all: length), color: color, unit: unit)
    }

    /// Cuts `length` off at all edges.
    public static func inset(_ length: Double, unit: TargetSize.Unit = .pixels) -> Self {
        PadTransformer(.init(all: -length), unit: unit)
    }
}
