// SPDX-License-Identifier: MIT

/// Pictures put together from others, without a request.
extension PixelBuffer {
    /// A picture of one colour.
    ///
    /// - Throws: a ``LimitError`` for a size beyond the limits, ``DecodeError/outOfMemory(bytes:)``.
    public static func filled(
        _ color: PixelColor, size: PixelSize, format: PixelFormat = .rgba8, context: CodingContext = CodingContext()
    ) throws(ImageError) -> PixelBuffer {
        try context.limits.check(result: size, format: format)
        let canvas = try PixelCanvas(size: size, format: format)
        let row = color.row(count: size.width, format: format)
        row.withUnsafeBytes { row in
            guard let first = row.baseAddress else { return }
            for y in 0..<size.height {
                (canvas.baseAddress + y * canvas.bytesPerRow).copyMemory(from: first, byteCount: row.count)
            }
        }
        return canvas.finish(isOpaque: color.alpha == 255)
    }

    /// This picture with `picture` drawn on it: resized to `rect`, which may lie partly outside.
    ///
    /// - Parameters:
    ///   - rect: in pixels of this picture. Nil (the default) for all of it.
    ///   - opacity: 0...1. Default 1.
    ///   - mode: how the two are mixed. Default normal.
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for an opacity outside 0...1 and an
    ///   empty rectangle, a ``LimitError`` for one beyond the limits.
    public func draw(
        _ picture: PixelBuffer, in rect: PixelRect? = nil, opacity: Double = 1, mode: BlendMode = .normal,
        context: CodingContext = CodingContext()
    ) throws(ImageError) -> PixelBuffer {
        let rect = rect ?? PixelRect(x: 0, y: 0, width: width, height: height)
        let place = PixelSize(width: rect.width, height: rect.height)
        guard !place.isEmpty else {
            throw .transform(.invalidParameter(transformer: "draw", parameter: "rect", value: "\(rect)"))
        }
        try context.limits.check(result: place, format: picture.format)
        let fitting = try Resampler.resample(picture, window: SampleRect(picture.size), to: place, context: context)
        let overlay = OverlayTransformer(
            fitting, at: .at(x: Double(rect.x), y: Double(rect.y)), opacity: opacity, mode: mode)
        return try overlay.transform(self, context: TransformContext(coding: context))
    }
}
