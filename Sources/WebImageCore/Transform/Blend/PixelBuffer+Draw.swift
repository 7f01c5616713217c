// SPDX-License-Identifier: MIT

/// Functions that compose images without a request.
extension PixelBuffer {
    /// Returns an image of a single color with the format ``PixelFormat/rgba8``.
    ///
    /// - Parameters:
    ///   - color: The color of every pixel.
    ///   - size: The size of the image, in pixels.
    /// - Throws: ``ImageError/limitExceeded(_:)`` if the size exceeds ``ImageLimits/desktop``, or
    ///   ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    public static func filled(with color: PixelColor, size: PixelSize) throws(ImageError) -> PixelBuffer {
        try filled(with: color, size: size, format: .rgba8, context: ImageProcessingContext())
    }

    /// Returns an image of a single color with a pixel format and within the limits of a context.
    ///
    /// - Throws: ``ImageError/limitExceeded(_:)`` if the size exceeds the limits, or
    ///   ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    @_disfavoredOverload
    package static func filled(
        with color: PixelColor, size: PixelSize, format: PixelFormat = .rgba8,
        context: ImageProcessingContext = ImageProcessingContext()
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

    /// Returns this image with another image drawn at several positions, in one pass over the rows.
    ///
    /// The result is equal to that of one ``OverlayTransformer`` for each position, in their order.
    ///
    /// - Parameters:
    ///   - origins: The positions of the top-left corner, which may be outside this image. They're sorted by `y`.
    ///   - opacity: The opacity, from 0 to 1. The default is 1.
    package func drawTiles(
        _ tile: PixelBuffer, at origins: [(x: Int, y: Int)], opacity: Double = 1, context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let opacity = Float(try ParameterValidator(transformer: "overlay").number(opacity, "opacity", in: 0...1))
        let seen = origins.filter { origin in
            PixelRect(x: origin.x, y: origin.y, width: tile.width, height: tile.height).clamped(to: size) != nil
        }
        guard !seen.isEmpty else { return self }
        let front = try tile.converted(to: format, context: context)
        let blend = RowBlender(
            format: format, opacity: opacity, mode: ImageBlendMode.normal.kernel,
            compositingOperator: ImageBlendMode.normal.compositingOperator)
        let coverage = [Float](repeating: 1, count: min(front.width, width))
        let bytesPerPixel = format.bytesPerPixel
        let rowBytes = width * bytesPerPixel
        // The tiles that can cover the current row.
        var active = 0..<0
        return try mapRows(isOpaque: isOpaque, context: context) { row, from, to in
            to.copyMemory(from: from, byteCount: rowBytes)
            var (first, end) = (active.lowerBound, active.upperBound)
            while end < seen.count, seen[end].y <= row { end += 1 }
            while first < end, row - seen[first].y >= front.height { first += 1 }
            active = first..<end
            for origin in seen[active] {
                let left = max(origin.x, 0)
                let target = to + left * bytesPerPixel
                front.withRow(row - origin.y) { over in
                    blend.draw(
                        over + (left - origin.x) * bytesPerPixel, on: target, to: target, coverage: coverage,
                        count: min(origin.x + front.width, width) - left)
                }
            }
        }
    }

    /// Returns this image with another image drawn on it.
    ///
    /// The other image is resized to `rect`, which may be partly outside this image.
    ///
    /// - Parameters:
    ///   - rect: The position and the size in pixels of this image. The default is `nil`, which means the whole image.
    ///   - opacity: The opacity, from 0 to 1. The default is 1.
    ///   - mode: The blend mode. The default is normal.
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the opacity isn't
    ///   within 0...1 or the rectangle is empty, or an ``ImageError/LimitFailure`` if the rectangle exceeds the limits.
    package func draw(
        _ picture: PixelBuffer, in rect: PixelRect? = nil, opacity: Double = 1, mode: ImageBlendMode = .normal,
        context: ImageProcessingContext = ImageProcessingContext()
    ) throws(ImageError) -> PixelBuffer {
        let rect = rect ?? PixelRect(x: 0, y: 0, width: width, height: height)
        let place = PixelSize(width: rect.width, height: rect.height)
        guard !place.isEmpty else {
            throw .processing(.invalidParameter(transformer: "draw", parameter: "rect", value: "\(rect)"))
        }
        try context.limits.check(result: place, format: picture.format)
        let fitting = try Resampler.resample(picture, window: SampleRect(picture.size), to: place, context: context)
        let overlay = OverlayTransformer(
            fitting, at: .at(x: Double(rect.x), y: Double(rect.y)), opacity: opacity, mode: mode)
        return try overlay.transform(self, context: context)
    }
}
