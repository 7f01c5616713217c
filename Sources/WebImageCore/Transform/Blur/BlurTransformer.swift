// SPDX-License-Identifier: MIT

/// Blurs a picture by a Gaussian (three box passes), edges extended; then changes its saturation and lays a colour
/// over it where that is wanted.
public struct BlurTransformer: ImageTransformer, Hashable {
    /// Twice the standard deviation, in `unit`, as GTK and CSS shadows count it. Above 32,768 pixels it counts as that.
    public let radius: Double
    /// How colourful the result is: 0 is grey, 1 as blurred. Negative values turn colours to their opposites.
    public let saturation: Double
    /// Laid over the result, within the picture's shape; nil for none.
    public let tint: PixelColor?
    /// Where the picture is blurred and where it stays as it is; nil blurs all of it.
    public let mask: PixelMask?
    /// What the radius means.
    public let unit: TargetSize.Unit

    /// Creates a transformer: pixels, no change of colour, no mask by default.
    public init(
        radius: Double, saturation: Double = 1, tint: PixelColor? = nil, mask: PixelMask? = nil,
        unit: TargetSize.Unit = .pixels
    ) {
        self.radius = radius
        self.saturation = saturation
        self.tint = tint
        self.mask = mask
        self.unit = unit
    }

    /// Name and all parameters.
    public var identity: String {
        "blur(\(radius),\(saturation),\(tint?.hexadecimal ?? "-"),\(mask?.identity ?? "-"),\(unit))"
    }

    /// Blurs. Opaque pictures stay opaque.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for a radius that is NaN,
    ///   infinite, zero or negative and for a saturation that is NaN or infinite, a ``LimitError`` for a picture that
    ///   is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterCheck(transformer: "blur")
        let radius = try check.length(radius, "radius", times: unit == .points ? context.scale : 1)
        let saturation = try check.number(saturation, "saturation", in: -1_000...1_000)
        var result = try BoxBlur.blur(pixels, deviation: radius / 2, context: context.coding)
        if saturation != 1 {
            result = try ColorMatrix.saturation(saturation).apply(to: result, context: context.coding)
        }
        if let tint, tint.alpha > 0 {
            result = try TintTransformer(tint, mode: .sourceAtop).transform(result, context: context)
        }
        guard let mask else { return result }
        return try mask.mix(from: pixels, to: result, context: context.coding)
    }
}

extension BlurTransformer {
    /// Looks of YYWebImage; radii are points.
    public enum Style: Sendable, Hashable {
        /// Between light and dark: radius 60, a third of light grey.
        case soft
        /// Radius 60, 30 % of white.
        case light
        /// Radius 40, 82 % of near white.
        case extraLight
        /// Radius 40, 73 % of near black.
        case dark
        /// Radius 20, 60 % of a colour (its own alpha is not used) over the opposite colours.
        case tinted(PixelColor)
    }

    /// One of the looks, with an optional mask.
    public init(_ style: Style, mask: PixelMask? = nil) {
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

extension ImageTransformer where Self == BlurTransformer {
    /// Blurs by a Gaussian; `radius` is twice its standard deviation, in pixels (or points).
    ///
    /// - Parameters:
    ///   - saturation: how colourful the result is. Default 1, as it was.
    ///   - tint: laid over the result. Default none.
    ///   - mask: where the picture is blurred. Default everywhere.
    ///   - unit: what the radius means. Default pixels.
    public static func blur(
        radius: Double, saturation: Double = 1, tint: PixelColor? = nil, mask: PixelMask? = nil,
        unit: TargetSize.Unit = .pixels
    ) -> Self {
        BlurTransformer(radius: radius, saturation: saturation, tint: tint, mask: mask, unit: unit)
    }

    /// Blurs in one of the looks of YYWebImage.
    public static func blur(_ style: BlurTransformer.Style, mask: PixelMask? = nil) -> Self {
        BlurTransformer(style, mask: mask)
    }
}
