// SPDX-License-Identifier: MIT

/// A transformer that crops an image to the largest circle at its center.
package struct CircleTransformer: ImageTransformer, Hashable {
    /// A line along the inside of the circle's edge, or `nil` for no line.
    package let border: RoundedCornersTransformer.Border?
    /// The unit of the border width.
    package let unit: TargetSize.Unit

    /// Creates a transformer. By default, it draws no border and uses pixels.
    package init(border: RoundedCornersTransformer.Border? = nil, unit: TargetSize.Unit = .pixels) {
        self.border = border
        self.unit = unit
    }

    /// The name and all parameters of the transformer.
    package var identifier: String {
        "circle(\(border.map { "\($0.width):\($0.color.hexadecimal)" } ?? "-"),\(unit))"
    }

    /// Crops an image to a square and then to a circle.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the border width is
    ///   NaN, infinite, zero, or negative, or an ``ImageError/LimitFailure`` if the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let side = Double(min(pixels.width, pixels.height))
        var line: RoundedCornersTransformer.Border?
        if let border {
            let width = try ParameterValidator(transformer: "circle").length(
                border.width, "border width", times: unit == .points ? context.scale : 1)
            line = RoundedCornersTransformer.Border(width: width, color: border.color)
        }
        let crop = CropTransformer(.anchored(width: side, height: side, .center))
        let square = try crop.transform(pixels, context: context)
        return try RoundedCornersTransformer(radius: side / 2, border: line).transform(square, context: context)
    }
}

extension CircleTransformer: GeometricTransformer {
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap? {
        // The color of a line has no gain.
        guard border == nil else { return nil }
        let side = Double(min(size.width, size.height))
        return try CropTransformer(.anchored(width: side, height: side, .center))
            .transform(gainMap: gainMap, of: size, context: context)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// A transformer that crops to the largest circle at the center.
    public static var circle: StandardTransformer { StandardTransformer(CircleTransformer()) }

    /// Returns a transformer that crops to the largest circle at the center and draws a line along the inside of its
    /// edge.
    public static func circle(
        borderWidth: Double, borderColor: PixelColor, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            CircleTransformer(
                border: RoundedCornersTransformer.Border(width: borderWidth, color: borderColor), unit: unit))
    }
}
