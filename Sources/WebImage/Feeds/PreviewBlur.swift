// SPDX-License-Identifier: MIT

import WebImageCore

/// The blur of previews, which is strong at the beginning of the download and weak at its end.
enum PreviewBlur {
    /// The radius is in pixels and follows YYWebImage's curve over the received fraction. If the total size is unknown,
    /// it depends on the number of previews shown before.
    static func radius(fraction: Double?, displayedCount: Int) -> Double {
        guard let fraction else { return 32 / Double(max(displayedCount, 0) + 1) }
        return 32 * (1 / (3 * min(1, max(0, fraction)) + 0.6) - 0.25)
    }

    /// Blurs an image. The radius is reduced for an image that is smaller than the original, so the blur looks the same
    /// at every size.
    static func apply(_ radius: Double, to image: DecodedImage, context: ImageProcessingContext) throws(ImageError)
        -> DecodedImage
    {
        let stored = image.metadata.orientation.upright(image.metadata.storedSize)
        let reduction = Double(max(image.size.width, image.size.height)) / Double(max(stored.width, stored.height))
        let pixels = radius * min(1, reduction)
        // A smaller radius has no visible effect.
        guard pixels >= 0.5 else { return image }
        let blur = BlurTransformer(radius: pixels)
        return image.replacing(
            pixels: try blur.transform(image.pixels, context: context), animation: nil)
    }
}
