// SPDX-License-Identifier: MIT

/// A transformer that crops an image to the largest circle at its center.
public struct CircleTransformer: ImageTransformer, Hashable {
    /// A line along the inside of the circle's edge, or `nil` for no line.
    public let border: RoundedCornersTransformer.Border?
    /// The unit of the border width.
    public let unit: TargetSize.Unit

    /// Creates a transformer. By default, it draws no border and uses pixels.
    public init(border: RoundedCornersTransformer.Border? = nil, unit: TargetSize.Unit = .pixels) {
        self.border = border
        self.unit = unit
    }

    /// The name and all parameters of the transformer.
    public var identifier: String {
        "circle(\(border.map { "\($0.width):\($0.color.hexadecimal)" } ?? "-"),\(unit))"
    }

    /// Crops an image to a square and then to a circle.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the border width is
    ///   NaN, infinite, zero, or negative, or an ``ImageError/LimitFailure`` if the image is too large.
    public func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let side = Double(min(pixels.width, pixels.height))
        var line: RoundedCornersTransformer.Border?
        if let border {
            let width = try ParameterValidator(transformer: "circle").length(
                border.width, "border width", times: unit == .points ? context.scale : 1)
            line = RoundedCornersTransformer.Border(width: width, color: border.color)
        }
        let square = try CropTransformer.crop(width: side, height: side).transform(pixels, context: context)
        return try RoundedCornersTransformer(radius: side / 2, border: line).transform(square, context: context)
    }
}

extension ImageTransformer where Self == CircleTransformer {
    /// Returns a transformer that crops to the largest circle at the center and optionally draws a line along the
    /// inside of its edge.
    public static func circle(
        border: RoundedCornersTransformer.Border? = nil, unit: TargetSize.Unit = .pixels
    ) -> Self {
        CircleTransformer(border: border, unit: unit)
    }

    /// A transformer that crops to the largest circle at the center.
    public static var circle: Self { CircleTransformer() }
}
