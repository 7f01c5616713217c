// SPDX-License-Identifier: MIT

import CPixelKernels

/// A transformer that sharpens an image with an unsharp mask. It adds a fraction of the difference between each pixel
/// and the blurred image.
package struct SharpenTransformer: ImageTransformer, Hashable {
    /// The fraction of the difference to add, where 0 changes nothing and 1 is strong.
    package let amount: Double
    /// Twice the standard deviation of the blur, in `unit`.
    package let radius: Double
    /// The threshold, from 0 to 1. Smaller differences aren't amplified, so noise isn't sharpened.
    package let threshold: Double
    /// The unit of the radius.
    package let unit: TargetSize.Unit

    /// Creates a transformer.
    package init(amount: Double = 0.5, radius: Double = 2, threshold: Double = 0, unit: TargetSize.Unit = .pixels) {
        self.amount = amount
        self.radius = radius
        self.threshold = threshold
        self.unit = unit
    }

    /// The name and all parameters of the transformer.
    package var identifier: String { "sharpen(\(amount),\(radius),\(threshold),\(unit))" }

    /// Sharpens an image. The alpha channel doesn't change.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the radius is NaN,
    ///   infinite, zero, or negative, the amount isn't within 0...100, or the threshold isn't within 0...1, or an
    ///   ``ImageError/LimitFailure`` if the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterValidator(transformer: "sharpen")
        let radius = try check.length(radius, "radius", times: unit == .points ? context.scale : 1)
        let amount = Float(try check.number(amount, "amount", in: 0...100))
        let threshold = Float(try check.number(threshold, "threshold", in: 0...1))
        if amount == 0 { return pixels }
        let blurred = try BoxBlur.blur(pixels, deviation: radius / 2, context: context)
        return try pixels.mapRows(isOpaque: pixels.isOpaque, context: context) { row, from, to in
            blurred.withRow(row) { soft in
                pixels.format.kernels.unsharp(from, soft, to, amount, threshold, pixels.width)
            }
        }
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that sharpens with an unsharp mask.
    ///
    /// - Parameters:
    ///   - amount: The fraction of the difference to add. The default is 0.5.
    ///   - radius: Twice the standard deviation of the blur. The default is 2.
    ///   - threshold: The difference, from 0 to 1, below which pixels don't change. The default is 0.
    ///   - unit: The unit of the radius. The default is pixels.
    public static func sharpen(
        amount: Double = 0.5, radius: Double = 2, threshold: Double = 0, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(SharpenTransformer(amount: amount, radius: radius, threshold: threshold, unit: unit))
    }
}
