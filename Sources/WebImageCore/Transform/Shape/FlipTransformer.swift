// SPDX-License-Identifier: MIT

/// A transformer that mirrors an image.
package struct FlipTransformer: ImageTransformer, Hashable {
    /// The direction in which the image is mirrored.
    package enum Direction: String, Sendable, Hashable, CaseIterable {
        /// Left and right swapped.
        case horizontal
        /// Top and bottom swapped.
        case vertical
        /// Both directions, which equals a rotation by 180°.
        case both
    }

    /// The direction in which the image is mirrored.
    package let direction: Direction

    /// Creates a transformer.
    package init(_ direction: Direction) { self.direction = direction }

    /// The name and all parameters of the transformer.
    package var identifier: String { "flip(\(direction.rawValue))" }

    /// Mirrors an image without changing pixel values. Opaque images remain opaque.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` if the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let orientation: ImageOrientation =
            switch direction {
            case .horizontal: .upMirrored
            case .vertical: .downMirrored
            case .both: .down
            }
        return try OrientationTransform.upright(pixels, orientation, context: context)
    }
}

extension FlipTransformer: GeometricTransformer {
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap? {
        gainMap.with(pixels: try transform(gainMap.pixels, context: context))
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// A transformer that swaps left and right.
    public static var flipHorizontally: StandardTransformer { StandardTransformer(FlipTransformer(.horizontal)) }

    /// A transformer that swaps top and bottom.
    public static var flipVertically: StandardTransformer { StandardTransformer(FlipTransformer(.vertical)) }
}
