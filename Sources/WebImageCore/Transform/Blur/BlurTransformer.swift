// SPDX-License-Identifier: MIT

/// A transformer that blurs an image and optionally changes its saturation and overlays a color.
///
/// Three box passes approximate a Gaussian. The edge pixels are extended beyond the image.
package struct BlurTransformer: ImageTransformer, Hashable {
    /// Twice the standard deviation in `unit`, as in GTK and CSS shadows. Values above 32,768 pixels are clamped.
    package let radius: Double
    /// The saturation of the result, where 0 is grayscale and 1 leaves the colors unchanged. Negative values invert
    /// the hues.
    package let saturation: Double
    /// The color to overlay, limited to the shape of the image, or `nil` for no overlay.
    package let tint: PixelColor?
    /// The blend mode of the tint.
    package let tintMode: ImageBlendMode
    /// The mask that shows the blurred image, or `nil` to blur the whole image.
    package let mask: PixelMask?
    /// The unit of the radius.
    package let unit: TargetSize.Unit

    /// Creates a transformer. By default, it uses pixels, no mask, and doesn't change colors. The default mode of the
    /// tint is normal.
    package init(
        radius: Double, saturation: Double = 1, tint: PixelColor? = nil, tintMode: ImageBlendMode = .normal,
        mask: PixelMask? = nil, unit: TargetSize.Unit = .pixels
    ) {
        self.radius = radius
        self.saturation = saturation
        self.tint = tint
        self.tintMode = tintMode
        self.mask = mask
        self.unit = unit
    }

    /// The name and all parameters of the transformer.
    package var identifier: String {
        let overlay = tint.map { "\($0.hexadecimal):\(tintMode.rawValue)" } ?? "-"
        return "blur(\(radius),\(saturation),\(overlay),\(mask?.identity ?? "-"),\(unit))"
    }

    /// Blurs an image. Opaque images remain opaque except with ``ImageBlendMode/sourceIn`` and a tint that isn't
    /// opaque.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the radius is NaN,
    ///   infinite, zero, or negative or the saturation isn't within −1,000...1,000, or an ``ImageError/LimitFailure``
    ///   if the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterValidator(transformer: "blur")
        let radius = try check.length(radius, "radius", times: unit == .points ? context.scale : 1)
        let saturation = try check.number(saturation, "saturation", in: -1_000...1_000)
        var result = try BoxBlur.blur(pixels, deviation: radius / 2, context: context)
        if saturation != 1 {
            result = try ColorMatrix.saturation(saturation).apply(to: result, context: context)
        }
        if let tint {
            result = try TintTransformer(tint, mode: tintMode).transform(result, context: context)
        }
        guard let mask else { return result }
        return try mask.mix(from: pixels, to: result, context: context)
    }
}

extension BlurTransformer {
    /// The blur styles of YYWebImage, with radii in points.
    package enum Style: Sendable, Hashable {
        /// A style between light and dark: radius 60 and 36% of light gray.
        case soft
        /// A light style: radius 60 and 30% of white.
        case light
        /// A very light style: radius 40 and 82% of near white.
        case extraLight
        /// A dark style: radius 40 and 73% of near black.
        case dark
        /// A tinted style: radius 20 and 60% of a color over inverted hues. The alpha of the color is ignored.
        case tinted(PixelColor)
    }

    /// Creates a transformer with a style and an optional mask.
    package init(_ style: Style, mask: PixelMask? = nil) {
        func gray(_ white: Double, _ alpha: Double) -> PixelColor {
            let value = UInt8((white * 255).rounded())
            return PixelColor(red: value, green: value, blue: value, alpha: UInt8((alpha * 255).rounded()))
        }
        let (radius, tint, saturation): (Double, PixelColor, Double) =
            switch style {
            case .soft: (60, gray(0.84, 0.36), 1.8)
            case .light: (60, gray(1, 0.3), 1.8)
            case .extraLight: (40, gray(0.97, 0.82), 1.8)
            case .dark: (40, gray(0.11, 0.73), 1.8)
            case .tinted(let color):
                (20, PixelColor(red: color.red, green: color.green, blue: color.blue, alpha: 153), -1)
            }
        self.init(radius: radius, saturation: saturation, tint: tint, mask: mask, unit: .points)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that applies a Gaussian blur.
    ///
    /// - Parameters:
    ///   - radius: Twice the standard deviation.
    ///   - saturation: The saturation of the result. The default is 1, which leaves the colors unchanged.
    ///   - tint: The color to overlay, within the shape of the image. The default is `nil`, which means none.
    ///   - tintBlendMode: The blend mode of the tint. The default is normal.
    ///   - mask: An image whose alpha determines where the blurred image is visible. It's stretched to the size of the
    ///     image. The default is `nil`, which blurs the whole image.
    ///   - unit: The unit of the radius. The default is pixels.
    public static func blur(
        radius: Double, saturation: Double = 1, tint: PixelColor? = nil, tintBlendMode: ImageBlendMode = .normal,
        mask: PixelBuffer? = nil, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            BlurTransformer(
                radius: radius, saturation: saturation, tint: tint, tintMode: tintBlendMode,
                mask: mask.map { PixelMask($0) }, unit: unit))
    }
}
