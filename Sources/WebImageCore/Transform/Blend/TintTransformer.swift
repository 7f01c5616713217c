// SPDX-License-Identifier: MIT

import CPixelKernels

/// Lays a colour on a picture, within the picture's shape: what was transparent stays transparent.
public struct TintTransformer: ImageTransformer, Hashable {
    /// The colour; its alpha is how strong the tint is.
    public let color: PixelColor
    /// How the colour and the picture come together. ``BlendMode/sourceIn`` makes a template icon: only the picture's
    /// alpha is used.
    public let mode: BlendMode

    /// Creates a transformer; ``BlendMode/sourceIn`` by default.
    public init(_ color: PixelColor, mode: BlendMode = .sourceIn) {
        self.color = color
        self.mode = mode
    }

    /// Name and all parameters.
    public var identity: String { "tint(\(color.hexadecimal),\(mode.rawValue))" }

    /// Tints. Opaque pictures stay opaque, but for ``BlendMode/sourceIn`` with a colour that is not.
    ///
    /// - Throws: a ``LimitError`` for a picture that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let isReplaced = mode == .sourceIn
        if color.alpha == 0, !isReplaced { return pixels }
        let front = color.row(count: pixels.width, format: pixels.format)
        let coverage = [Float](repeating: 1, count: pixels.width)
        let blend = RowBlend(
            format: pixels.format, opacity: 1, mode: mode.kernel, place: isReplaced ? wi_blend_in : wi_blend_atop)
        let isOpaque = pixels.isOpaque && (!isReplaced || color.alpha == 255)
        return try pixels.mapRows(isOpaque: isOpaque, context: context.coding) { _, from, to in
            front.withUnsafeBytes { front in
                guard let front = front.baseAddress else { return }
                blend.draw(front, on: from, to: to, coverage: coverage, count: pixels.width)
            }
        }
    }
}

extension ImageTransformer where Self == TintTransformer {
    /// Lays `color` on the picture within its shape; by default the colour replaces the picture's own colours.
    public static func tint(_ color: PixelColor, mode: BlendMode = .sourceIn) -> Self {
        TintTransformer(color, mode: mode)
    }
}
