// SPDX-License-Identifier: MIT

/// A transformer that leaves animations or vector images unchanged. To create one, use
/// ``ImageTransformer/excludingAnimations()``.
package struct RestrictedTransformer: ImageTransformer {
    /// The underlying transformer.
    package let base: any ImageTransformer
    /// Whether animated images are transformed.
    package let appliesToAnimations: Bool
    /// Whether images that were rendered from vector formats are transformed.
    package let appliesToVectors: Bool

    init(_ base: any ImageTransformer, toFrames: Bool, toVectors: Bool) {
        self.base = base
        appliesToAnimations = toFrames && base.appliesToAnimations
        appliesToVectors = toVectors && base.appliesToVectors
    }

    /// The restrictions, followed by the identity of ``base``.
    package var identifier: String {
        "restricted(\(appliesToAnimations ? "frames" : "stills"),\(appliesToVectors ? "all" : "pixels"),"
            + "\(base.identifier.utf8.count):\(base.identifier))"
    }

    /// Applies ``base``.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try base.transform(pixels, context: context)
    }
}

extension ImageTransformer {
    /// Returns a copy of the transformer that leaves animated images unchanged. Existing restrictions remain in effect.
    public func excludingAnimations() -> some ImageTransformer { applied(toFrames: false) }

    /// Returns a copy of the transformer that leaves images that were rendered from vector formats (SVG, PDF)
    /// unchanged. Existing restrictions remain in effect.
    public func excludingVectors() -> some ImageTransformer { applied(toVectors: false) }

    /// Returns a copy of the transformer that applies only to still images (`toFrames` is `false`) or only to raster
    /// images (`toVectors` is `false`). Existing restrictions remain in effect.
    package func applied(toFrames: Bool = true, toVectors: Bool = true) -> RestrictedTransformer {
        RestrictedTransformer(self, toFrames: toFrames, toVectors: toVectors)
    }
}
