// SPDX-License-Identifier: MIT

import CPixelKernels
import Glibc

/// A transformer that fades an image to a color toward its corners.
package struct VignetteTransformer: ImageTransformer, Hashable {
    /// The fraction of the color at the corners, from 0 to 1.
    package let strength: Double
    /// The position where the fade begins. 0 is the center, and values close to 1 are near the corners.
    package let start: Double
    /// The color.
    package let color: PixelColor

    /// Creates a transformer.
    package init(strength: Double = 0.6, start: Double = 0.4, color: PixelColor = .black) {
        self.strength = strength
        self.start = start
        self.color = color
    }

    /// The name and all parameters of the transformer.
    package var identifier: String { "vignette(\(strength),\(start),\(color.hexadecimal))" }

    /// Applies the fade within the shape of the image. Opaque images remain opaque.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the strength isn't
    ///   within 0...1 or the start isn't within 0...0.999, or an ``ImageError/LimitFailure`` if the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterValidator(transformer: "vignette")
        let strength = Float(try check.number(strength, "strength", in: 0...1))
        let start = try check.number(start, "start", in: 0...0.999)
        if strength == 0 || color.alpha == 0 { return pixels }
        let front = color.row(count: pixels.width, format: pixels.format)
        let blend = RowBlender(
            format: pixels.format, opacity: 1, mode: wi_blend_normal, compositingOperator: wi_blend_atop)
        var coverage = [Float](repeating: 0, count: pixels.width)
        let half = hypot(Double(pixels.width), Double(pixels.height)) / 2
        let left = (0.5 - Double(pixels.width) / 2) / half
        return try pixels.mapRows(isOpaque: pixels.isOpaque, context: context) { row, from, to in
            let y = (Double(row) + 0.5 - Double(pixels.height) / 2) / half
            wi_vignette(
                &coverage, Float(left), Float(1 / half), Float(y), Float(start), Float(1 / (1 - start)), strength,
                pixels.width)
            front.withUnsafeBytes { front in
                guard let front = front.baseAddress else { return }
                blend.draw(front, on: from, to: to, coverage: coverage, count: pixels.width)
            }
        }
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that fades an image to `color` toward its corners.
    ///
    /// - Parameters:
    ///   - strength: The fraction of the color at the corners, from 0 to 1. The default is 0.6.
    ///   - start: The position where the fade begins, where 0 is the center. The default is 0.4.
    ///   - color: The color. The default is black.
    public static func vignette(
        strength: Double = 0.6, start: Double = 0.4, color: PixelColor = .black
    ) -> StandardTransformer {
        StandardTransformer(VignetteTransformer(strength: strength, start: start, color: color))
    }
}
