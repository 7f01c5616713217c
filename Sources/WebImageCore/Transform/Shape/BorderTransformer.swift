// SPDX-License-Identifier: MIT

/// Draws a straight line along all edges of a picture.
public struct BorderTransformer: ImageTransformer, Hashable {
    /// Where the line lies.
    public enum Placement: String, Sendable, Hashable, CaseIterable {
        /// Over the picture's outermost pixels; the size stays.
        case inside
        /// Around the picture, which grows.
        case outside
    }

    /// The line's width in `unit`; inside at most half the short side is used, outside it is rounded to whole pixels.
    public let width: Double
    /// The line's colour.
    public let color: PixelColor
    /// Where the line lies.
    public let placement: Placement
    /// What the width means.
    public let unit: TargetSize.Unit

    /// Creates a transformer: inside, pixels by default.
    public init(width: Double, color: PixelColor, placement: Placement = .inside, unit: TargetSize.Unit = .pixels) {
        self.width = width
        self.color = color
        self.placement = placement
        self.unit = unit
    }

    /// Name and all parameters.
    public var identity: String { "border(\(width),\(color.hexadecimal),\(placement.rawValue),\(unit))" }

    /// Draws. Opaque pictures stay opaque, but for a line outside that is not.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for a width that is NaN,
    ///   infinite, zero or negative, a ``LimitError`` for a result that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let width = try ParameterCheck(transformer: "border").length(
            width, "width", times: unit == .points ? context.scale : 1)
        switch placement {
        case .inside:
            // No corner is cut: the radius has no meaning, it must only be valid.
            return try RoundedCornersTransformer(radius: 1, corners: [], border: .init(width: width, color: color))
                .transform(pixels, context: context)
        case .outside:
            return try PadTransformer(.init(all: width), color: color).transform(pixels, context: context)
        }
    }
}

extension ImageTransformer where Self == BorderTransformer {
    /// Draws a line along all edges.
    ///
    /// - Parameters:
    ///   - width: its width.
    ///   - color: its colour.
    ///   - placement: over the picture's outermost pixels (the default) or around them.
    ///   - unit: what the width means. Default pixels.
    public static func border(
        width: Double, color: PixelColor, placement: BorderTransformer.Placement = .inside,
        unit: TargetSize.Unit = .pixels
    ) -> Self {
        BorderTransformer(width: width, color: color, placement: placement, unit: unit)
    }
}
