// SPDX-License-Identifier: MIT

import WebImageCore

/// How strongly a preview is blurred: much at the beginning, hardly at all at the end.
enum PreviewBlur {
    /// Radius in pixels of a picture at its own size: YYWebImage's curve over the part of the bytes that came. Where
    /// the size of the whole is not known, the number of previews shown before stands for it.
    static func radius(fraction: Double?, shown: Int) -> Double {
        guard let fraction else { return 32 / Double(max(shown, 0) + 1) }
        return 32 * (1 / (3 * min(1, max(0, fraction)) + 0.6) - 0.25)
    }

    /// Blurs by `radius`, less where the picture is smaller than the file's: it looks the same at every size.
    static func apply(_ radius: Double, to image: Image, context: CodingContext) throws(ImageError) -> Image {
        let stored = image.metadata.orientation.upright(image.metadata.rawSize)
        let reduction = Double(max(image.size.width, image.size.height)) / Double(max(stored.width, stored.height))
        let pixels = radius * min(1, reduction)
        // Less than this nobody sees.
        guard pixels >= 0.5 else { return image }
        let blur = BlurTransformer(radius: pixels)
        return image.replacing(
            pixels: try blur.transform(image.pixels, context: TransformContext(coding: context)), animation: nil)
    }
}
