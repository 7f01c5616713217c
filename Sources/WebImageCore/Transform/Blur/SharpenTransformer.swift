// SPDX-License-Identifier: MIT

import CPixelKernels

/// Sharpens by an unsharp mask: adds to each pixel a part of its difference from the blurred picture.
public struct SharpenTransformer: ImageTransformer, Hashable {
    /// The part of the difference that is added; 0 changes nothing, 1 is strong.
    public let amount: Double
    /// Twice the standard deviation of the blur, in `unit`.
    public let radius: Double
    /// Differences smaller than this (0...1) are left alone, so that noise is not sharpened.
    public let threshold: Double
    /// What the radius means.
    public let unit: TargetSize.Unit

    /// Creates a transformer.
    public init(amount: Double = 0.5, radius: Double = 2, threshold: Double = 0, unit: TargetSize.Unit = .pixels) {
        self.amount = amount
        self.radius = radius
        self.threshold = threshold
        self.unit = unit
    }

    /// Name and all parameters.
    public var identity: String { "sharpen(\(amount),\(radius),\(threshold),\(unit))" }

    /// Sharpens. Alpha stays as it is.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for a radius that is NaN,
    ///   infinite, zero or negative, an amount outside 0...100 or a threshold outside 0...1, a ``LimitError`` for a
    ///   picture that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterCheck(transformer: "sharpen")
        let radius = try check.length(radius, "radius", times: unit == .points ? context.scale : 1)
        let amount = Float(try check.number(amount, "amount", in: 0...100))
        let threshold = Float(try check.number(threshold, "threshold", in: 0...1))
        if amount == 0 { return pixels }
        let blurred = try BoxBlur.blur(pixels, deviation: radius / 2, context: context.coding)
        return try pixels.mapRows(isOpaque: pixels.isOpaque, context: context.coding) { row, from, to in
            blurred.withRow(row) { soft in
                switch pixels.format {
                case .rgba8:
                    wi_unsharp_rgba8(from.samples8, soft.samples8, to.samples8, amount, threshold, pixels.width)
                case .rgba16:
                    wi_unsharp_rgba16(from.samples16, soft.samples16, to.samples16, amount, threshold, pixels.width)
                }
            }
        }
    }
}

extension ImageTransformer where Self == SharpenTransformer {
    /// Sharpens by an unsharp mask.
    ///
    /// - Parameters:
    ///   - amount: how strongly. Default 0.5.
    ///   - radius: twice the blur's standard deviation. Default 2.
    ///   - threshold: differences below it (0...1) are left alone. Default 0.
    ///   - unit: what the radius means. Default pixels.
    public static func sharpen(
        amount: Double = 0.5, radius: Double = 2, threshold: Double = 0, unit: TargetSize.Unit = .pixels
    ) -> Self {
        SharpenTransformer(amount: amount, radius: radius, threshold: threshold, unit: unit)
    }
}
