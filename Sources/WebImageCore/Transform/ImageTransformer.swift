// SPDX-License-Identifier: MIT

/// The constraints that transformers obey while they work.
public struct TransformContext: Sendable {
    /// The number of pixels per point. Lengths in points are multiplied by it.
    public var scale: Double
    /// The limits and the cancellation.
    public var coding: CodingContext

    /// Creates a context.
    public init(scale: Double = 1, coding: CodingContext = CodingContext()) {
        self.scale = scale
        self.coding = coding
    }
}

/// A type that converts an image to another image.
///
/// The input and the output are premultiplied. The methods block, and any number of threads may call them at the same
/// time.
public protocol ImageTransformer: Sendable {
    /// A string that differs for transformers with different results, made of the name and all parameters. It's part
    /// of the cache key.
    var identifier: String { get }

    /// A Boolean value that indicates whether animated images are transformed, with their poster frame and all frames.
    ///
    /// The default is `true`. If the value is `false`, animated images remain unchanged. See
    /// ``applied(toFrames:toVectors:)``.
    var appliesToAnimations: Bool { get }

    /// A Boolean value that indicates whether images that were rendered from vector formats (SVG, PDF) are
    /// transformed.
    ///
    /// The default is `true`. If the value is `false`, these images remain unchanged.
    var appliesToVectors: Bool { get }

    /// Returns the transformed pixels.
    func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer
}

extension ImageTransformer {
    /// The value `true`.
    public var appliesToAnimations: Bool { true }

    /// The value `true`.
    public var appliesToVectors: Bool { true }

    /// Returns whether this transformer applies to images of this kind.
    package func applies(to image: DecodedImage) -> Bool {
        (appliesToAnimations || !image.isAnimated) && (appliesToVectors || !(image.format?.isVector ?? false))
    }

    /// Returns the transformed image.
    ///
    /// For an animation, this method transforms the poster frame immediately and the frames on demand. If the
    /// transformer doesn't apply to the image, this method returns it unchanged.
    public func apply(to image: DecodedImage, context: TransformContext) throws(ImageError) -> DecodedImage {
        if let whole = self as? any WholeImageTransformer { return try whole.apply(toWhole: image, context: context) }
        guard applies(to: image) else { return image }
        let pixels = try transform(image.pixels, context: context)
        return image.replacing(
            pixels: pixels, animation: image.animation?.transformed(by: self, context: context))
    }
}

/// A transformer that needs more of an image than its pixels.
package protocol WholeImageTransformer: ImageTransformer {
    /// Returns the transformed image.
    func apply(toWhole image: DecodedImage, context: TransformContext) throws(ImageError) -> DecodedImage
}
