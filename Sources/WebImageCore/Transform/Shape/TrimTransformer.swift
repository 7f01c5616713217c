// SPDX-License-Identifier: MIT

/// A transformer that crops the uniform border of an image.
package struct TrimTransformer: ContentDependentTransformer, Hashable {
    /// The maximum difference between a pixel of the border and the color of the border in each channel, from 0 to 1.
    package let tolerance: Double
    /// The color of the border. If the value is `nil`, the top-left pixel determines the color.
    package let color: PixelColor?
    /// Whether equal parts are cropped from the left and from the right side. The default is `false`.
    package var cropsSidesEqually = false
    /// Whether equal parts are cropped from the top and from the bottom. The default is `false`.
    package var cropsEndsEqually = false

    /// Creates a transformer.
    package init(tolerance: Double, color: PixelColor? = nil) {
        self.tolerance = tolerance
        self.color = color
    }

    /// The name and all parameters of the transformer.
    package var identifier: String {
        let equal = (cropsSidesEqually ? ",sides" : "") + (cropsEndsEqually ? ",ends" : "")
        return "trim(\(tolerance),\(color?.hexadecimal ?? "-")\(equal))"
    }

    package var dependsOnContent: Bool { true }

    /// Crops the border. If the whole image has the color of the border, or if there's no border, this method returns
    /// the image unchanged.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the tolerance isn't
    ///   within 0...1, or an ``ImageError/LimitFailure`` if the result is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try fixed(for: pixels, context: context).transform(pixels, context: context)
    }

    package func fixed(
        for pixels: PixelBuffer, context: ImageProcessingContext
    ) throws(ImageError) -> any ImageTransformer {
        let tolerance = try ParameterValidator(transformer: "trim").number(tolerance, "tolerance", in: 0...1)
        try context.checkCancellation()
        let found = try pixels.withUnsafeBytes { bytes throws(ImageError) -> PixelRect? in
            guard let base = bytes.baseAddress else { return nil }
            switch pixels.format.layout.sampleType {
            case .uint8:
                return try BorderScan(base.samples8, of: pixels, color: color, tolerance: tolerance)
                    .content(context: context)
            case .uint16:
                return try BorderScan(base.samples16, of: pixels, color: color, tolerance: tolerance)
                    .content(context: context)
            }
        }
        var rect = found ?? PixelRect(x: 0, y: 0, width: pixels.width, height: pixels.height)
        if cropsSidesEqually {
            let margin = min(rect.x, pixels.width - rect.x - rect.width)
            (rect.x, rect.width) = (margin, pixels.width - 2 * margin)
        }
        if cropsEndsEqually {
            let margin = min(rect.y, pixels.height - rect.y - rect.height)
            (rect.y, rect.height) = (margin, pixels.height - 2 * margin)
        }
        return CropTransformer(
            .rect(x: Double(rect.x), y: Double(rect.y), width: Double(rect.width), height: Double(rect.height)))
    }
}

/// A search for the part of an image inside its uniform border.
private struct BorderScan<Sample: FixedWidthInteger & UnsignedInteger> {
    private let base: UnsafePointer<Sample>
    private let samplesPerRow: Int
    private let size: PixelSize
    private let color: (red: Int, green: Int, blue: Int, alpha: Int)
    private let tolerance: Int

    init(_ base: UnsafePointer<Sample>, of pixels: PixelBuffer, color: PixelColor?, tolerance: Double) {
        self.base = base
        samplesPerRow = pixels.bytesPerRow / MemoryLayout<Sample>.size
        size = pixels.size
        // Fractions of 255 can have a rounding error.
        self.tolerance = Int(tolerance * Double(pixels.format.maximum) + 1e-6)
        if let color {
            let samples = color.premultiplied(maximum: pixels.format.maximum).map { Int($0.rounded()) }
            self.color = (samples[0], samples[1], samples[2], samples[3])
        } else {
            self.color = (Int(base[0]), Int(base[1]), Int(base[2]), Int(base[3]))
        }
    }

    /// Returns the smallest rectangle that contains all pixels of another color, or `nil` if there are none.
    func content(context: ImageProcessingContext) throws(ImageError) -> PixelRect? {
        var checkpoints = CancellationChecker(context)
        var top = 0
        while top < size.height, isBorder(row: top) {
            try checkpoints.count(pixels: size.width)
            top += 1
        }
        guard top < size.height else { return nil }
        var bottom = size.height
        // The loop ends at the row `top` at the latest.
        while isBorder(row: bottom - 1) {
            try checkpoints.count(pixels: size.width)
            bottom -= 1
        }
        var left = size.width
        var right = 0
        for row in top..<bottom {
            try checkpoints.count(pixels: size.width)
            var column = 0
            while column < left, isBorder(column, row) { column += 1 }
            left = column
            column = size.width
            while column > right, isBorder(column - 1, row) { column -= 1 }
            right = column
        }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    private func isBorder(row: Int) -> Bool {
        for column in 0..<size.width where !isBorder(column, row) { return false }
        return true
    }

    private func isBorder(_ column: Int, _ row: Int) -> Bool {
        let pixel = base + row * samplesPerRow + column * 4
        return abs(Int(pixel[0]) - color.red) <= tolerance && abs(Int(pixel[1]) - color.green) <= tolerance
            && abs(Int(pixel[2]) - color.blue) <= tolerance && abs(Int(pixel[3]) - color.alpha) <= tolerance
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that crops the uniform border of an image, such as the margin of a scan.
    ///
    /// If the whole image has one color, it remains unchanged. In an animation, the poster frame determines the border
    /// of all frames.
    ///
    /// - Parameters:
    ///   - tolerance: The maximum difference between the border and its color in each premultiplied channel, from 0 to
    ///     1. The default is 0.04, which is about 10 of 255.
    ///   - color: The color of the border. The default is `nil`, which means the color of the top-left pixel.
    public static func trim(tolerance: Double = 0.04, color: PixelColor? = nil) -> StandardTransformer {
        StandardTransformer(TrimTransformer(tolerance: tolerance, color: color))
    }
}
