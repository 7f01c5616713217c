// SPDX-License-Identifier: MIT

/// Cuts the largest circle out of the middle of a picture.
public struct CircleTransformer: ImageTransformer, Hashable {
    /// A line inside the circle's edge, nil for none.
    public let border: RoundedCornersTransformer.Border?
    /// What the border's width means.
    public let unit: TargetSize.Unit

    /// Creates a transformer: no border, pixels by default.
    public init(border: RoundedCornersTransformer.Border? = nil, unit: TargetSize.Unit = .pixels) {
        self.border = border
        self.unit = unit
    }

    /// Name and all parameters.
    public var identity: String {
        "circle(\(border.map { "\($0.width):\($0.color.hexadecimal)" } ?? "-"),\(unit))"
    }

    /// Crops to a square and cuts.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for a border whose width is NaN,
    ///   infinite, zero or negative, a ``LimitError`` for a picture that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let side = Double(min(pixels.width, pixels.height))
        var line: RoundedCornersTransformer.Border?
        if let border {
            let width = try ParameterCheck(transformer: "circle").length(
                border.width, "border width", times: unit == .points ? context.scale : 1)
            line = RoundedCornersTransformer.Border(width: width, color: border.color)
        }
        let square = try CropTransformer.crop(width: side, height: side).transform(pixels, context: context)
        return try RoundedCornersTransformer(radius: side / 2, border: line).transform(square, context: context)
    }
}

extension ImageTransformer where Self == CircleTransformer {
    /// Cuts the largest circle out of the middle, with a line inside its edge where one is wanted.
    public static func circle(
        border: RoundedCornersTransformer.Border? = nil, unit: TargetSize.Unit = .pixels
    ) -> Self {
        CircleTransformer(border: border, unit: unit)
    }

    /// The largest circle out of the middle.
    public static var circle: Self { CircleTransformer() }
}
