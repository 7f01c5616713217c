// SPDX-License-Identifier: MIT

/// A transformer of this library. To create one, use the static members of ``ImageTransformer``, such as
/// `.resize(width: 200)`.
///
/// Two transformers are equal if they have the same effect.
public struct StandardTransformer: ImageTransformer, Hashable, CustomStringConvertible {
    /// The transformer that does the work.
    package let base: any ImageTransformer

    package init(_ base: any ImageTransformer) { self.base = base }

    /// The name and all parameters of the transformer.
    public var identifier: String { base.identifier }

    /// A Boolean value that indicates whether animated images are transformed.
    public var appliesToAnimations: Bool { base.appliesToAnimations }

    /// A Boolean value that indicates whether images that were rendered from vector formats are transformed.
    public var appliesToVectors: Bool { base.appliesToVectors }

    /// Returns the transformed pixels.
    ///
    /// - Throws: ``ImageError/processing(_:)`` if a parameter is invalid, or ``ImageError/limitExceeded(_:)`` if the
    ///   result is too large.
    public func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try base.transform(pixels, context: context)
    }

    /// The name and all parameters of the transformer.
    public var description: String { identifier }

    /// Returns whether two transformers have the same effect.
    public static func == (a: StandardTransformer, b: StandardTransformer) -> Bool { a.identifier == b.identifier }

    /// Hashes the components that ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }

    /// A corner, an edge, or the center.
    public enum Anchor: String, Sendable, Hashable, CaseIterable {
        /// The top left corner.
        case topLeading
        /// The center of the top edge.
        case top
        /// The top right corner.
        case topTrailing
        /// The center of the left edge.
        case leading
        /// The center of the image.
        case center
        /// The center of the right edge.
        case trailing
        /// The bottom left corner.
        case bottomLeading
        /// The center of the bottom edge.
        case bottom
        /// The bottom right corner.
        case bottomTrailing
    }

    /// The way an image is resized for a canvas.
    public enum ContentMode: String, Sendable, Hashable, CaseIterable {
        /// The whole image inside the canvas, with its aspect ratio preserved.
        case fit
        /// The canvas covered by the image, with the aspect ratio preserved and the excess cropped.
        case fill
        /// Each side resized to the canvas independently. The aspect ratio isn't preserved.
        case stretch
        /// The size of the image. The excess is cropped.
        case original
    }

    /// The way a smart crop finds the interesting part of an image.
    public enum SmartCropStrategy: String, Sendable, Hashable, CaseIterable {
        /// The part around the point with the most edges, saturated colors, and skin tones.
        case attention
        /// The part with the highest entropy, which means the most detail and contrast.
        case entropy
    }

    /// A set of corners.
    public struct Corners: OptionSet, Sendable, Hashable {
        /// The bits of the set, one for each corner.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The top-left corner.
        public static let topLeading = Corners(rawValue: 1)
        /// The top-right corner.
        public static let topTrailing = Corners(rawValue: 2)
        /// The bottom-left corner.
        public static let bottomLeading = Corners(rawValue: 4)
        /// The bottom-right corner.
        public static let bottomTrailing = Corners(rawValue: 8)
        /// All four corners.
        public static let all: Corners = [.topLeading, .topTrailing, .bottomLeading, .bottomTrailing]
    }
}

/// Transformers that change the size or the shape. All lengths are in pixels by default. With the unit
/// ``TargetSize/Unit/points``, they're multiplied by ``ImageProcessingContext/scale``.
extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that resizes to a target size. Only ``TargetSize/exact(width:height:unit:)`` enlarges
    /// images.
    ///
    /// - Parameters:
    ///   - size: The target size.
    ///   - filter: The kernel and the light. The default is Lanczos-3, which reduces images in linear light.
    public static func resize(_ size: TargetSize, filter: ResamplingFilter = .lanczos3) -> StandardTransformer {
        StandardTransformer(ResizeTransformer(to: size, filter: filter))
    }

    /// Returns a transformer that fits the image into `width` × `height`. The aspect ratio determines an omitted side.
    ///
    /// - Parameters:
    ///   - width: The maximum width. The default is `nil`, which sets no limit.
    ///   - height: The maximum height. The default is `nil`, which sets no limit.
    ///   - unit: The unit of the lengths. The default is pixels.
    ///   - upscales: Whether smaller images are enlarged. The default is `false`.
    ///   - filter: The kernel and the light. The default is Lanczos-3, which reduces images in linear light.
    public static func resize(
        width: Double? = nil, height: Double? = nil, unit: TargetSize.Unit = .pixels, upscales: Bool = false,
        filter: ResamplingFilter = .lanczos3
    ) -> StandardTransformer {
        StandardTransformer(
            ResizeTransformer(
                to: .fit(width: width, height: height, unit: unit), upscales: upscales, filter: filter))
    }

    /// Returns a transformer that keeps a rectangle with its top-left corner at `x`, `y`. The transformer throws
    /// ``ImageError/ProcessingFailure/regionOutsideImage(transformer:)`` if the rectangle contains no pixel of the
    /// image.
    public static func crop(
        x: Double, y: Double, width: Double, height: Double, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(CropTransformer(.rect(x: x, y: y, width: width, height: height), unit: unit))
    }

    /// Returns a transformer that keeps `width` × `height` at `anchor`. The default is the center.
    public static func crop(
        width: Double, height: Double, anchor: StandardTransformer.Anchor = .center, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(CropTransformer(.anchored(width: width, height: height, anchor), unit: unit))
    }

    /// Returns a transformer that rounds corners with exact anti-aliasing.
    ///
    /// - Parameters:
    ///   - radius: The radius. At most half of the shorter side is used.
    ///   - corners: The corners to round. The default is all corners.
    ///   - borderWidth: The width of a line along the inside of the edge. The default is 0, which draws no line.
    ///   - borderColor: The color of the line, which is drawn over the image. The default is transparent.
    ///   - unit: The unit of the lengths. The default is pixels.
    public static func roundedCorners(
        radius: Double, corners: StandardTransformer.Corners = .all, borderWidth: Double = 0,
        borderColor: PixelColor = .clear, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        let border = borderWidth == 0 ? nil : RoundedCornersTransformer.Border(width: borderWidth, color: borderColor)
        return StandardTransformer(
            RoundedCornersTransformer(radius: radius, corners: corners, border: border, unit: unit))
    }

    /// Returns a transformer that rounds corners with a radius that's relative to the size of the image.
    ///
    /// - Parameters:
    ///   - radiusFraction: The radius as a fraction of the shorter side, greater than 0 and at most 1. Fractions of 0.5
    ///     and more round the shorter side completely.
    ///   - corners: The corners to round. The default is all corners.
    ///   - borderWidth: The width of a line along the inside of the edge. The default is 0, which draws no line.
    ///   - borderColor: The color of the line, which is drawn over the image. The default is transparent.
    ///   - unit: The unit of the border width. The default is pixels.
    public static func roundedCorners(
        radiusFraction: Double, corners: StandardTransformer.Corners = .all, borderWidth: Double = 0,
        borderColor: PixelColor = .clear, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        let border = borderWidth == 0 ? nil : RoundedCornersTransformer.Border(width: borderWidth, color: borderColor)
        return StandardTransformer(
            RoundedCornersTransformer(.fraction(radiusFraction), corners: corners, border: border, unit: unit))
    }

    /// A transformer that crops to the largest circle at the center.
    public static var circle: StandardTransformer { StandardTransformer(CircleTransformer()) }

    /// Returns a transformer that crops to the largest circle at the center and draws a line along the inside of its
    /// edge.
    public static func circle(
        borderWidth: Double, borderColor: PixelColor, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            CircleTransformer(
                border: RoundedCornersTransformer.Border(width: borderWidth, color: borderColor), unit: unit))
    }

    /// Returns a transformer whose result always has the size `width` × `height`. It places the image on a background,
    /// and crops the parts that are outside.
    ///
    /// The background is visible only next to the image. Transparent pixels of the image remain transparent.
    ///
    /// - Parameters:
    ///   - width: The width of the result.
    ///   - height: The height of the result.
    ///   - mode: The way the image is resized. The default is ``StandardTransformer/ContentMode/fit``, which shows the
    ///     whole image.
    ///   - anchor: The position of the image if it's smaller than the result, and of the visible part if it's larger.
    ///     The default is the center.
    ///   - background: The color of pixels that the image doesn't cover. The default is transparent.
    ///   - upscales: Whether smaller images are enlarged. The default is `false`.
    ///   - unit: The unit of the lengths. The default is pixels.
    ///   - filter: The kernel and the light. The default is Lanczos-3, which reduces images in linear light.
    public static func canvas(
        width: Double, height: Double, mode: StandardTransformer.ContentMode = .fit,
        anchor: StandardTransformer.Anchor = .center, background: PixelColor = .clear, upscales: Bool = false,
        unit: TargetSize.Unit = .pixels, filter: ResamplingFilter = .lanczos3
    ) -> StandardTransformer {
        StandardTransformer(
            CanvasTransformer(
                width: width, height: height, mode: mode, anchor: anchor, background: background, upscales: upscales,
                unit: unit, filter: filter))
    }

    /// Returns a transformer that covers `width` × `height` without enlarging the image, and crops the least interesting
    /// parts of the excess.
    ///
    /// The size of the result is the same as for ``TargetSize/fill(width:height:unit:)``. If no part is more interesting
    /// than others, the center remains. In an animation, the poster frame determines the part of all frames.
    ///
    /// - Parameters:
    ///   - width: The width.
    ///   - height: The height.
    ///   - strategy: The way the interesting part is found. The default is
    ///     ``StandardTransformer/SmartCropStrategy/attention``.
    ///   - unit: The unit of the lengths. The default is pixels.
    ///   - filter: The kernel and the light. The default is Lanczos-3, which reduces images in linear light.
    public static func smartCrop(
        width: Double, height: Double, strategy: StandardTransformer.SmartCropStrategy = .attention,
        unit: TargetSize.Unit = .pixels, filter: ResamplingFilter = .lanczos3
    ) -> StandardTransformer {
        StandardTransformer(
            SmartCropTransformer(width: width, height: height, strategy: strategy, unit: unit, filter: filter))
    }

    /// Returns a transformer that crops the uniform border of an image, such as the margin of a scan.
    ///
    /// If the whole image has one color, it remains unchanged. In an animation, the poster frame determines the border
    /// of all frames.
    ///
    /// - Parameters:
    ///   - tolerance: The maximum difference between the border and its color in each premultiplied channel, from 0 to
    ///     1. The default is 0.04, which is about 10 of 255.
    ///   - color: The color of the border. The default is `nil`, which means the color of the top-left pixel.
    public static func trim(tolerance: Double = 0.04, color: PixelColor? = nil) -> StandardTransformer {
        StandardTransformer(TrimTransformer(tolerance: tolerance, color: color))
    }

    /// Returns a transformer that draws a line along all edges.
    ///
    /// - Parameters:
    ///   - width: The width of the line.
    ///   - color: The color of the line.
    ///   - isOutside: Whether the line is around the image, whose size then increases. The default is `false`, which
    ///     draws the line over the outermost pixels.
    ///   - unit: The unit of the width. The default is pixels.
    public static func border(
        width: Double, color: PixelColor, isOutside: Bool = false, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            BorderTransformer(width: width, color: color, placement: isOutside ? .outside : .inside, unit: unit))
    }

    /// A transformer that swaps left and right.
    public static var flipHorizontally: StandardTransformer { StandardTransformer(FlipTransformer(.horizontal)) }

    /// A transformer that swaps top and bottom.
    public static var flipVertically: StandardTransformer { StandardTransformer(FlipTransformer(.vertical)) }

    /// Returns a transformer that rotates clockwise.
    ///
    /// - Parameters:
    ///   - degrees: The angle, in degrees.
    ///   - keepsSize: Whether the size doesn't change and protruding corners are cropped. The default is `false`, which
    ///     increases the size to contain the whole rotated image.
    ///   - background: The color of pixels that the rotated image doesn't cover. The default is transparent.
    ///   - light: The values that are interpolated if the angle isn't a multiple of 90°. The default is linear light.
    public static func rotate(
        degrees: Double, keepsSize: Bool = false, background: PixelColor = .clear,
        light: ResamplingFilter.Light = .linear
    ) -> StandardTransformer {
        StandardTransformer(
            RotateTransformer(
                degrees: degrees, mode: keepsSize ? .clip : .fit, background: background, light: light))
    }

    /// Returns a transformer that moves all edges outward by `length`. The default color of added pixels is
    /// transparent.
    public static func pad(
        _ length: Double, color: PixelColor = .clear, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(PadTransformer(.init(all: length), color: color, unit: unit))
    }

    /// Returns a transformer that moves each edge outward (positive lengths) or inward (negative lengths). The default
    /// color of added pixels is transparent.
    public static func pad(
        top: Double, leading: Double, bottom: Double, trailing: Double, color: PixelColor = .clear,
        unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            PadTransformer(
                .init(top: top, leading: leading, bottom: bottom, trailing: trailing), color: color, unit: unit))
    }

    /// Returns a transformer that crops `length` from all edges.
    public static func inset(_ length: Double, unit: TargetSize.Unit = .pixels) -> StandardTransformer {
        StandardTransformer(PadTransformer(.init(all: -length), unit: unit))
    }
}

/// Transformers that change pixels and keep the size.
extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that applies a Gaussian blur.
    ///
    /// - Parameters:
    ///   - radius: Twice the standard deviation.
    ///   - saturation: The saturation of the result. The default is 1, which leaves the colors unchanged.
    ///   - tint: The color to overlay, within the shape of the image. The default is `nil`, which means none.
    ///   - tintBlendMode: The blend mode of the tint. The default is normal.
    ///   - mask: An image whose alpha determines where the blurred image is visible. It's stretched to the size of the
    ///     image. The default is `nil`, which blurs the whole image.
    ///   - unit: The unit of the radius. The default is pixels.
    public static func blur(
        radius: Double, saturation: Double = 1, tint: PixelColor? = nil, tintBlendMode: ImageBlendMode = .normal,
        mask: PixelBuffer? = nil, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            BlurTransformer(
                radius: radius, saturation: saturation, tint: tint, tintMode: tintBlendMode,
                mask: mask.map { PixelMask($0) }, unit: unit))
    }

    /// Returns a transformer that sharpens with an unsharp mask.
    ///
    /// - Parameters:
    ///   - amount: The fraction of the difference to add. The default is 0.5.
    ///   - radius: Twice the standard deviation of the blur. The default is 2.
    ///   - threshold: The difference, from 0 to 1, below which pixels don't change. The default is 0.
    ///   - unit: The unit of the radius. The default is pixels.
    public static func sharpen(
        amount: Double = 0.5, radius: Double = 2, threshold: Double = 0, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(SharpenTransformer(amount: amount, radius: radius, threshold: threshold, unit: unit))
    }

    /// Returns a transformer that draws `color` within the shape of an image. By default, the color replaces the
    /// colors of the image, as for a template icon.
    public static func tint(_ color: PixelColor, blendMode: ImageBlendMode = .sourceIn) -> StandardTransformer {
        StandardTransformer(TintTransformer(color, mode: blendMode))
    }

    /// Returns a transformer that draws another image at an anchor. This function reads all pixels of the other image.
    ///
    /// - Parameters:
    ///   - image: The image to draw.
    ///   - anchor: The position of the image. The default is the center.
    ///   - margin: The distance to the edges. The default is 0.
    ///   - opacity: The opacity, from 0 to 1. The default is 1.
    ///   - blendMode: The blend mode. The default is normal.
    ///   - unit: The unit of the margin. The default is pixels.
    public static func overlay(
        _ image: PixelBuffer, at anchor: StandardTransformer.Anchor = .center, margin: Double = 0, opacity: Double = 1,
        blendMode: ImageBlendMode = .normal, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            OverlayTransformer(
                image, at: .anchored(anchor, margin: margin), opacity: opacity, mode: blendMode, unit: unit))
    }

    /// Returns a transformer that draws another image in a rectangle. This function reads all pixels of the other
    /// image.
    ///
    /// - Parameters:
    ///   - image: The image to draw.
    ///   - rect: The rectangle in pixels, which may be partly outside the transformed image. `nil` stretches the image
    ///     over the whole transformed image.
    ///   - opacity: The opacity, from 0 to 1. The default is 1.
    ///   - blendMode: The blend mode. The default is normal.
    public static func overlay(
        _ image: PixelBuffer, in rect: PixelRect?, opacity: Double = 1, blendMode: ImageBlendMode = .normal
    ) -> StandardTransformer {
        StandardTransformer(
            OverlayTransformer(
                image, at: rect.map { .rect($0) } ?? .stretched, opacity: opacity, mode: blendMode))
    }

    /// Returns a transformer that shows only what another image shows. The other image is stretched to the size of the
    /// transformed image. This function reads all of its pixels.
    ///
    /// - Parameters:
    ///   - mask: The other image.
    ///   - usesLuminance: Whether the luminance of the mask determines the visibility. The default is `false`, which
    ///     uses its alpha.
    public static func mask(_ mask: PixelBuffer, usesLuminance: Bool = false) -> StandardTransformer {
        StandardTransformer(MaskTransformer(PixelMask(mask, channel: usesLuminance ? .luminance : .alpha)))
    }

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

    /// Returns a transformer that applies several transformers in order.
    public static func combined(_ transformers: [any ImageTransformer]) -> StandardTransformer {
        StandardTransformer(ComposedTransformer(transformers))
    }

    /// Returns a transformer that calls a custom function.
    ///
    /// - Parameters:
    ///   - id: A string that identifies the function and all its parameters. It's part of the cache key.
    ///   - transform: A function that converts premultiplied pixels to premultiplied pixels. It's called on worker
    ///     threads, on any number of them at the same time.
    public static func custom(
        id: String, _ transform: @escaping @Sendable (PixelBuffer, ImageProcessingContext) throws -> PixelBuffer
    ) -> StandardTransformer {
        StandardTransformer(ClosureTransformer(id: id, transform))
    }
}

/// Transformers that adjust the color of each pixel, like the filters of CSS.
extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that computes each channel from all four channels and a constant.
    public static func colorMatrix(_ matrix: ColorMatrix) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.matrix(matrix)))
    }

    /// Returns a saturation transformer, where 0 is grayscale, 1 changes nothing, and larger values increase the
    /// saturation.
    public static func saturation(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.saturation(amount)))
    }

    /// Returns a brightness transformer, where 0 is black, 1 changes nothing, and 2 is twice as bright.
    public static func brightness(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.brightness(amount)))
    }

    /// Returns a contrast transformer, where 0 is uniform middle gray, 1 changes nothing, and larger values increase
    /// the contrast.
    public static func contrast(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.contrast(amount)))
    }

    /// A transformer that removes all color.
    public static var grayscale: StandardTransformer { .grayscale(1) }

    /// Returns a grayscale transformer. With values below 1, some color remains.
    public static func grayscale(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.grayscale(amount)))
    }

    /// A transformer that replaces all colors with shades of brown.
    public static var sepia: StandardTransformer { .sepia(1) }

    /// Returns a sepia transformer. With values below 1, some of the original color remains.
    public static func sepia(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.sepia(amount)))
    }

    /// A transformer that inverts all colors.
    public static var invert: StandardTransformer { .invert(1) }

    /// Returns a transformer that inverts colors. With values below 1, the effect is weaker.
    public static func invert(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.invert(amount)))
    }

    /// Returns a transformer that rotates hues by `degrees`.
    public static func hueRotation(degrees: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.hueRotation(degrees)))
    }
}
