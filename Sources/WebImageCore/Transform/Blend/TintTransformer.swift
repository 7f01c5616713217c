// SPDX-License-Identifier: MIT

import CPixelKernels

/// A transformer that draws a color on an image, within the shape of the image. Transparent pixels remain transparent.
package struct TintTransformer: ImageTransformer, Hashable {
    /// The color. Its alpha is the strength of the tint.
    package let color: PixelColor
    /// The blend mode. ``ImageBlendMode/sourceIn`` creates a template icon, which uses only the alpha of the image.
    package let mode: ImageBlendMode

    /// Creates a transformer. The default mode is ``ImageBlendMode/sourceIn``.
    package init(_ color: PixelColor, mode: ImageBlendMode = .sourceIn) {
        self.color = color
        self.mode = mode
    }

    /// The name and all parameters of the transformer.
    package var identifier: String { "tint(\(color.hexadecimal),\(mode.rawValue))" }

    /// Tints an image. Opaque images remain opaque except with ``ImageBlendMode/sourceIn`` and a color that isn't
    /// opaque.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` if the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let isReplaced = mode == .sourceIn
        if color.alpha == 0, !isReplaced { return pixels }
        let front = color.row(count: pixels.width, format: pixels.format)
        let coverage = [Float](repeating: 1, count: pixels.width)
        let blend = RowBlender(
            format: pixels.format, opacity: 1, mode: mode.kernel,
            compositingOperator: isReplaced ? wi_blend_in : wi_blend_atop)
        let isOpaque = pixels.isOpaque && (!isReplaced || color.alpha == 255)
        return try pixels.mapRows(isOpaque: isOpaque, context: context) { _, from, to in
            front.withUnsafeBytes { front in
                guard let front = front.baseAddress else { return }
                blend.draw(front, on: from, to: to, coverage: coverage, count: pixels.width)
            }
        }
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that draws `color` within the shape of an image. By default, the color replaces the
    /// colors of the image, as for a template icon.
    public static func tint(_ color: PixelColor, blendMode: ImageBlendMode = .sourceIn) -> StandardTransformer {
        StandardTransformer(TintTransformer(color, mode: blendMode))
    }
}
