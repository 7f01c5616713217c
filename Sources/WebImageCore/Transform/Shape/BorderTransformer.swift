// SPDX-License-Identifier: MIT

/// A transformer that draws a straight line along all edges of an image.
package struct BorderTransformer: ImageTransformer, Hashable {
    /// The position of the line.
    package enum Placement: String, Sendable, Hashable, CaseIterable {
        /// Over the outermost pixels of the image, whose size doesn't change.
        case inside
        /// Around the image, whose size increases.
        case outside
    }

    /// The width of the line in `unit`. Inside, at most half of the shorter side is used. Outside, the width is
    /// rounded to whole pixels.
    package let width: Double
    /// The color of the line.
    package let color: PixelColor
    /// The position of the line.
    package let placement: Placement
    /// The unit of the width.
    package let unit: TargetSize.Unit

    /// Creates a transformer. By default, the line is inside, and its width is in pixels.
    package init(width: Double, color: PixelColor, placement: Placement = .inside, unit: TargetSize.Unit = .pixels) {
        self.width = width
        self.color = color
        self.placement = placement
        self.unit = unit
    }

    /// The name and all parameters of the transformer.
    package var identifier: String { "border(\(width),\(color.hexadecimal),\(placement.rawValue),\(unit))" }

    /// Draws the border. Opaque images remain opaque unless the line is outside and isn't opaque.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the width is NaN,
    ///   infinite, zero, or negative, or an ``ImageError/LimitFailure`` if the result is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let width = try ParameterValidator(transformer: "border").length(
            width, "width", times: unit == .points ? context.scale : 1)
        switch placement {
        case .inside:
            // Pass any valid radius, because no corner is rounded.
            return try RoundedCornersTransformer(radius: 1, corners: [], border: .init(width: width, color: color))
                .transform(pixels, context: context)
        case .outside:
            return try PadTransformer(.init(all: width), color: color).transform(pixels, context: context)
        }
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that draws a line along all edges.
    ///
    /// - Parameters:
    ///   - width: The width of the line.
    ///   - color: The color of the line.
    ///   - isOutside: Whether the line is around the image, whose size then increases. The default is `false`, which
    ///     draws the line over the outermost pixels.
    ///   - unit: The unit of the width. The default is pixels.
    public static func border(
        width: Double, color: PixelColor, isOutside: Bool = false, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            BorderTransformer(width: width, color: color, placement: isOutside ? .outside : .inside, unit: unit))
    }
}
