// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import WebImage

/// A type that transforms images. Its ``transformerKey`` is part of the cache key.
public protocol SDImageTransformer: Sendable {
    /// A string that differs for transformers with different results.
    var transformerKey: String { get }
    /// Returns the transformed image, or `nil` if the transformation fails. It’s called on worker threads.
    func transformedImage(with image: UIImage, forKey key: String) -> UIImage?
}

extension SDImageTransformer {
    /// Returns the transformer of WebImage.
    func mapped(animations: Bool = false, vectors: Bool = false) -> NamedTransformer {
        let known = (self as? SDStandardTransformer)?.transformer
        let key = "\(transformerKey),\(animations),\(vectors)"
        return NamedTransformer(key, appliesToAnimations: animations, appliesToVectors: vectors) { pixels, context in
            if let known { return try known.transform(pixels, context: context) }
            let image = UIImage(decoded: DecodedImage(pixels: pixels, scale: context.scale))
            guard let result = transformedImage(with: image, forKey: transformerKey) else {
                throw ImageError.processing(.transformerFailed(transformer: transformerKey, reason: "no image"))
            }
            return result.decoded.pixels
        }
    }
}

/// The base class of the transformers of this library, which contains a transformer of WebImage.
public class SDStandardTransformer: SDImageTransformer, @unchecked Sendable {
    // Safe: neither this class nor its subclasses, which are final, have a variable.

    /// The transformer of WebImage.
    public let transformer: any ImageTransformer

    init(_ transformer: any ImageTransformer) { self.transformer = transformer }

    /// The identifier of ``transformer``.
    public var transformerKey: String { transformer.identifier }

    /// Returns the transformed image, or `nil` if a parameter isn’t valid for it.
    public func transformedImage(with image: UIImage, forKey key: String) -> UIImage? { transformer(image) }
}

/// Applies several transformers in order.
public final class SDImagePipelineTransformer: SDStandardTransformer, @unchecked Sendable {
    // Safe: the class has no variable.

    /// The transformers.
    public let transformers: [any SDImageTransformer]

    /// Creates a pipeline.
    public init(transformers: [any SDImageTransformer]) {
        self.transformers = transformers
        super.init(StandardTransformer.combined(transformers.map { $0.mapped(animations: true, vectors: true) }))
    }
}

/// Rounds corners. Lengths are in points.
public final class SDImageRoundCornerTransformer: SDStandardTransformer, @unchecked Sendable {
    // Safe: the class has no variable.

    /// Creates a transformer.
    public init(radius: CGFloat, corners: SDRectCorner, borderWidth: CGFloat, borderColor: UIColor?) {
        super.init(
            StandardTransformer.roundedCorners(
                radius: radius, corners: corners.corners, borderWidth: borderWidth,
                borderColor: borderColor?.pixelColor ?? .clear, unit: .points))
    }
}

/// The corners of a rectangle.
public typealias SDRectCorner = UIRectCorner

/// Resizes images. The size is in points.
public final class SDImageResizingTransformer: SDStandardTransformer, @unchecked Sendable {
    // Safe: the class has no variable.

    /// Creates a transformer.
    public init(size: CGSize, scaleMode: SDImageScaleMode) {
        let mode: StandardTransformer.ContentMode =
            switch scaleMode {
            case .fill: .stretch
            case .aspectFit: .fit
            case .aspectFill: .fill
            }
        super.init(
            StandardTransformer.canvas(
                width: size.width, height: size.height, mode: mode, upscales: true, unit: .points))
    }
}

/// Crops images to a rectangle in points.
public final class SDImageCroppingTransformer: SDStandardTransformer, @unchecked Sendable {
    // Safe: the class has no variable.

    /// Creates a transformer.
    public init(rect: CGRect) {
        super.init(
            StandardTransformer.crop(
                x: rect.minX, y: rect.minY, width: rect.width, height: rect.height, unit: .points))
    }
}

/// Flips images.
public final class SDImageFlippingTransformer: SDStandardTransformer, @unchecked Sendable {
    // Safe: the class has no variable.

    /// Creates a transformer.
    public init(horizontal: Bool, vertical: Bool) {
        var parts: [any ImageTransformer] = []
        if horizontal { parts.append(StandardTransformer.flipHorizontally) }
        if vertical { parts.append(StandardTransformer.flipVertically) }
        super.init(StandardTransformer.combined(parts))
    }
}

/// Rotates images.
public final class SDImageRotationTransformer: SDStandardTransformer, @unchecked Sendable {
    // Safe: the class has no variable.

    /// Creates a transformer. The angle is counterclockwise, in radians.
    public init(angle: CGFloat, fitSize: Bool) {
        super.init(StandardTransformer.rotate(degrees: -Double(angle) * 180 / .pi, keepsSize: !fitSize))
    }
}

/// Replaces the color of images and keeps their transparency.
public final class SDImageTintTransformer: SDStandardTransformer, @unchecked Sendable {
    // Safe: the class has no variable.

    /// Creates a transformer.
    public init(color: UIColor) { super.init(StandardTransformer.tint(color.pixelColor)) }
}

/// Blurs images.
public final class SDImageBlurTransformer: SDStandardTransformer, @unchecked Sendable {
    // Safe: the class has no variable.

    /// Creates a transformer. The radius is the standard deviation, in points.
    public init(radius: CGFloat) { super.init(StandardTransformer.blur(radius: 2 * radius, unit: .points)) }
}

/// Not available.
@available(*, unavailable, message: "Core Image isn’t available. Use .colorMatrix(_:) of WebImage.")
public enum SDImageFilterTransformer {}

extension UIImage {
    /// Returns the resized image.
    public func sd_resizedImage(with size: CGSize, scaleMode: SDImageScaleMode) -> UIImage? {
        SDImageResizingTransformer(size: size, scaleMode: scaleMode).transformer(self)
    }

    /// Returns the cropped image.
    public func sd_croppedImage(with rect: CGRect) -> UIImage? {
        SDImageCroppingTransformer(rect: rect).transformer(self)
    }

    /// Returns the image with rounded corners.
    public func sd_roundedCornerImage(
        withRadius radius: CGFloat, corners: SDRectCorner, borderWidth: CGFloat, borderColor: UIColor?
    ) -> UIImage? {
        SDImageRoundCornerTransformer(
            radius: radius, corners: corners, borderWidth: borderWidth, borderColor: borderColor
        ).transformer(self)
    }

    /// Returns the rotated image.
    public func sd_rotatedImage(withAngle angle: CGFloat, fitSize: Bool) -> UIImage? {
        SDImageRotationTransformer(angle: angle, fitSize: fitSize).transformer(self)
    }

    /// Returns the flipped image.
    public func sd_flippedImage(withHorizontal horizontal: Bool, vertical: Bool) -> UIImage? {
        SDImageFlippingTransformer(horizontal: horizontal, vertical: vertical).transformer(self)
    }

    /// Returns the tinted image.
    public func sd_tintedImage(with color: UIColor) -> UIImage? {
        SDImageTintTransformer(color: color).transformer(self)
    }

    /// Returns the blurred image.
    public func sd_blurredImage(withRadius radius: CGFloat) -> UIImage? {
        SDImageBlurTransformer(radius: radius).transformer(self)
    }

    /// Returns the color of a pixel, or `nil` outside the image.
    public func sd_color(at point: CGPoint) -> UIColor? {
        decoded.pixels.color(x: Int(point.x), y: Int(point.y)).map { UIColor($0) }
    }
}
