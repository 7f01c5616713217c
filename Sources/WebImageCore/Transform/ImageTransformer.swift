// SPDX-License-Identifier: MIT

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
    /// ``excludingAnimations()``.
    var appliesToAnimations: Bool { get }

    /// A Boolean value that indicates whether images that were rendered from vector formats (SVG, PDF) are
    /// transformed.
    ///
    /// The default is `true`. If the value is `false`, these images remain unchanged.
    var appliesToVectors: Bool { get }

    /// Returns the transformed pixels.
    func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer
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
    /// For an animation, this method transforms the poster frame immediately and the frames on demand. If the result
    /// depends on the content, as for a smart crop, the poster frame determines the part of all frames. If the
    /// transformer doesn't apply to the image, this method returns it unchanged.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - context: The limits, the scale, and the cancellation. The default has the limits ``ImageLimits/desktop`` and
    ///     the scale 1. The timeout applies to each frame of an animation separately.
    public func apply(
        to image: DecodedImage, context: ImageProcessingContext = ImageProcessingContext()
    ) throws(ImageError) -> DecodedImage {
        if let whole = self as? any WholeImageTransformer {
            let result = try whole.apply(toWhole: image, context: context)
            return result === image || !whole.isRecorded
                ? result : result.transformed(by: image.transformerIdentifiers + [identifier])
        }
        guard applies(to: image) else { return image }
        let context = context.with(lightCurve: image.metadata.lightCurve)
        var transformer: any ImageTransformer = self
        // Without this, the frames of an animation would have different sizes.
        if image.isAnimated { transformer = try fixed(by: image.pixels, context: context) }
        let result = try transformer.transform(image.pixels, image.gainMap, context: context)
        return image.replacing(
            pixels: result.pixels, animation: image.animation?.transformed(by: transformer, context: context),
            gainMap: result.gainMap
        ).transformed(by: image.transformerIdentifiers + [identifier])
    }
}

/// A transformer that needs more of an image than its pixels.
package protocol WholeImageTransformer: ImageTransformer {
    /// Whether ``DecodedImage/transformerIdentifiers`` contains this transformer.
    var isRecorded: Bool { get }
    /// Returns the transformed image.
    func apply(toWhole image: DecodedImage, context: ImageProcessingContext) throws(ImageError) -> DecodedImage
}
