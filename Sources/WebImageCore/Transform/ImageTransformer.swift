// SPDX-License-Identifier: MIT

/// What transformers obey while they work.
public struct TransformContext: Sendable {
    /// Pixels per point; lengths given in points are multiplied by it.
    public var scale: Double
    /// Limits and cancellation.
    public var coding: CodingContext

    /// Creates a context.
    public init(scale: Double = 1, coding: CodingContext = CodingContext()) {
        self.scale = scale
        self.coding = coding
    }
}

/// Picture in, picture out. Premultiplied in, premultiplied out. Methods block and may be called on any number
/// of threads at once.
public protocol ImageTransformer: Sendable {
    /// A text that differs for every two transformers whose results differ: the name and all parameters.
    /// It enters the cache key.
    var identity: String { get }

    /// Whether animated pictures are transformed, poster and frames. Default true; where it is false they stay as they
    /// are. See ``applied(toFrames:toVectors:)``.
    var appliesToFrames: Bool { get }

    /// Whether pictures that were drawn from vectors (SVG, PDF) are transformed. Default true; where it is false they
    /// stay as they are.
    var appliesToVectors: Bool { get }

    /// Makes the new picture; `pixels` stays as it is.
    func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer
}

extension ImageTransformer {
    /// True.
    public var appliesToFrames: Bool { true }

    /// True.
    public var appliesToVectors: Bool { true }

    /// Whether `image` is of a kind that this transformer applies to.
    public func applies(to image: Image) -> Bool {
        (appliesToFrames || !image.isAnimated) && (appliesToVectors || !(image.format?.isVector ?? false))
    }

    /// Transforms a still, or the poster of an animation at once and its frames when they are asked for. A picture that
    /// the transformer does not apply to is given back as it is.
    public func apply(to image: Image, context: TransformContext) throws(ImageError) -> Image {
        if let whole = self as? any WholeImageTransformer { return try whole.apply(toWhole: image, context: context) }
        guard applies(to: image) else { return image }
        let pixels = try transform(image.pixels, context: context)
        return image.replacing(
            pixels: pixels, animation: image.animation?.transformed(by: self, context: context))
    }
}

/// A transformer that needs more of an image than its pixels.
package protocol WholeImageTransformer: ImageTransformer {
    /// Makes the new image.
    func apply(toWhole image: Image, context: TransformContext) throws(ImageError) -> Image
}
