// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import WebImage

/// The input of a processor.
public enum ImageProcessItem: Sendable {
    /// An image.
    case image(KFCrossPlatformImage)
    /// Encoded data.
    case data(Data)

    var image: KFCrossPlatformImage? {
        switch self {
        case .image(let image): image
        case .data(let data): UIImage(data: data)
        }
    }
}

/// A type that processes images. Its ``identifier`` is part of the cache key.
public protocol ImageProcessor: Sendable {
    /// A string that differs for processors with different results.
    var identifier: String { get }
    /// Returns the processed image, or `nil` if the processing fails. It’s called on worker threads.
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage?
}

extension ImageProcessor {
    /// Returns a processor that applies `another` after this one.
    public func append(another: any ImageProcessor) -> any ImageProcessor {
        JoinedProcessor(first: self, second: another)
    }

    /// Adds the processor to a request.
    func apply(to request: inout ImageRequest) {
        if let size = (self as? DownsamplingImageProcessor)?.target { request.size = size }
        request.transformers = steps.compactMap(\.mapped)
    }

    private var steps: [any ImageProcessor] {
        guard let joined = self as? JoinedProcessor else { return [self] }
        return joined.first.steps + joined.second.steps
    }

    private var mapped: NamedTransformer? {
        if self is DefaultImageProcessor { return nil }
        if let known = self as? any StandardProcessor {
            guard let transformer = known.transformer else { return nil }
            return NamedTransformer(identifier) { try transformer.transform($0, context: $1) }
        }
        return NamedTransformer(identifier) { pixels, context in
            let image = UIImage(decoded: DecodedImage(pixels: pixels, scale: context.scale))
            guard let result = process(item: .image(image), options: KingfisherParsedOptionsInfo(nil)) else {
                throw ImageError.processing(.transformerFailed(transformer: identifier, reason: "no image"))
            }
            return result.decoded.pixels
        }
    }
}

/// Returns a processor that applies `right` after `left`.
public func |> (left: any ImageProcessor, right: any ImageProcessor) -> any ImageProcessor {
    left.append(another: right)
}

infix operator |> : AdditionPrecedence

/// Two processors.
struct JoinedProcessor: ImageProcessor {
    let first: any ImageProcessor
    let second: any ImageProcessor

    var identifier: String { first.identifier + "|>" + second.identifier }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        first.process(item: item, options: options).flatMap { second.process(item: .image($0), options: options) }
    }
}

/// A processor of which only the identifier is known, for lookups.
struct UnknownProcessor: ImageProcessor {
    let identifier: String

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { nil }

    func apply(to request: inout ImageRequest) {
        request.transformers = identifier.components(separatedBy: "|>").map { name in
            NamedTransformer(name) { _, _ in
                throw ImageError.processing(
                    .transformerFailed(transformer: name, reason: "only the identifier is known"))
            }
        }
    }
}

/// A processor that contains a transformer of WebImage.
protocol StandardProcessor: ImageProcessor {
    /// The transformer, or `nil` if the processor changes the decoding instead.
    var transformer: (any ImageTransformer)? { get }
}

extension StandardProcessor {
    /// Returns the processed image, or `nil` if a parameter isn’t valid for it.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        item.image.flatMap { image in transformer.map { $0(image) } ?? image }
    }
}

/// The processor that doesn’t change images.
public struct DefaultImageProcessor: ImageProcessor {
    /// The processor.
    public static let `default` = DefaultImageProcessor()

    /// Creates a processor.
    public init() {}

    /// An empty string.
    public var identifier: String { "" }

    /// Returns the image.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        item.image
    }
}

/// Decodes images to a size that fits into `size`, in points.
public struct DownsamplingImageProcessor: StandardProcessor {
    /// The size.
    public let size: CGSize

    /// Creates a processor.
    public init(size: CGSize) { self.size = size }

    /// The name and the size.
    public var identifier: String { "com.onevcat.Kingfisher.DownsamplingImageProcessor(\(size))" }

    var target: TargetSize { .fit(width: size.width, height: size.height, unit: .points) }
    var transformer: (any ImageTransformer)? { StandardTransformer.resize(target) }
}

/// How an image is resized.
public enum ContentMode: Sendable {
    /// Stretches the image.
    case none
    /// Fits into the size.
    case aspectFit
    /// Fills the size without cropping.
    case aspectFill
}

/// Resizes images. The size is in points.
public struct ResizingImageProcessor: StandardProcessor {
    /// The size.
    public let referenceSize: CGSize
    /// How the image is resized.
    public let targetContentMode: ContentMode

    /// Creates a processor.
    public init(referenceSize: CGSize, mode: ContentMode = .none) {
        self.referenceSize = referenceSize
        targetContentMode = mode
    }

    /// The name and the parameters.
    public var identifier: String {
        "com.onevcat.Kingfisher.ResizingImageProcessor(\(referenceSize), \(targetContentMode))"
    }

    var transformer: (any ImageTransformer)? {
        NamedTransformer(identifier) { pixels, context in
            let (width, height) = (Double(pixels.width), Double(pixels.height))
            let ratios = (referenceSize.width * context.scale / width, referenceSize.height * context.scale / height)
            let factors =
                switch targetContentMode {
                case .none: ratios
                case .aspectFit: (min(ratios.0, ratios.1), min(ratios.0, ratios.1))
                case .aspectFill: (max(ratios.0, ratios.1), max(ratios.0, ratios.1))
                }
            let size = TargetSize.exact(
                width: (width * factors.0).rounded(), height: (height * factors.1).rounded())
            return try StandardTransformer.resize(size).transform(pixels, context: context)
        }
    }
}

/// Crops images to a size, in points.
public struct CroppingImageProcessor: StandardProcessor {
    /// The size.
    public let size: CGSize
    /// The position of the rectangle, from 0 to 1 in both directions.
    public let anchor: CGPoint

    /// Creates a processor.
    public init(size: CGSize, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5)) {
        self.size = size
        self.anchor = anchor
    }

    /// The name and the parameters.
    public var identifier: String { "com.onevcat.Kingfisher.CroppingImageProcessor(\(size)_\(anchor))" }

    var transformer: (any ImageTransformer)? {
        NamedTransformer(identifier) { pixels, context in
            let width = min(size.width * context.scale, Double(pixels.width))
            let height = min(size.height * context.scale, Double(pixels.height))
            let x = (Double(pixels.width) - width) * min(max(anchor.x, 0), 1)
            let y = (Double(pixels.height) - height) * min(max(anchor.y, 0), 1)
            return try StandardTransformer.crop(
                x: x.rounded(), y: y.rounded(), width: width.rounded(), height: height.rounded()
            ).transform(pixels, context: context)
        }
    }
}

/// Corners of a rectangle.
public typealias RectCorner = UIRectCorner

extension UIRectCorner {
    /// All corners.
    public static let all = UIRectCorner.allCorners
}

/// A length.
public enum Radius: Hashable, Sendable {
    /// A fraction of the width of the image.
    case widthFraction(CGFloat)
    /// A fraction of the height of the image.
    case heightFraction(CGFloat)
    /// Points.
    case point(CGFloat)
}

/// Rounds corners.
public struct RoundCornerImageProcessor: StandardProcessor {
    /// The radius.
    public let radius: Radius
    /// The corners.
    public let roundingCorners: RectCorner
    /// The color of the removed corners.
    public let backgroundColor: KFCrossPlatformColor?
    private let targetSize: CGSize?

    /// Creates a processor. If there’s a target size, the image is resized to fill it first.
    public init(
        cornerRadius: CGFloat, targetSize: CGSize? = nil, roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.init(
            radius: .point(cornerRadius), targetSize: targetSize, roundingCorners: corners,
            backgroundColor: backgroundColor)
    }

    /// Creates a processor.
    public init(
        radius: Radius, targetSize: CGSize? = nil, roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.radius = radius
        self.targetSize = targetSize
        roundingCorners = corners
        self.backgroundColor = backgroundColor
    }

    /// The name and the parameters.
    public var identifier: String {
        let target = targetSize.map { "_\($0)" } ?? ""
        let color = backgroundColor.map { "_\($0.pixelColor)" } ?? ""
        return
            "com.onevcat.Kingfisher.RoundCornerImageProcessor(\(radius)\(target)_\(roundingCorners.rawValue)\(color))"
    }

    var transformer: (any ImageTransformer)? {
        NamedTransformer(identifier) { pixels, context in
            var pixels = pixels
            if let targetSize {
                let size = TargetSize.fill(width: targetSize.width, height: targetSize.height, unit: .points)
                pixels = try StandardTransformer.resize(size).transform(pixels, context: context)
            }
            let length =
                switch radius {
                case .widthFraction(let fraction): fraction * Double(pixels.width)
                case .heightFraction(let fraction): fraction * Double(pixels.height)
                case .point(let points): points * context.scale
                }
            pixels = try StandardTransformer.roundedCorners(
                radius: length, corners: roundingCorners.corners
            ).transform(pixels, context: context)
            guard let backgroundColor else { return pixels }
            let canvas = try PixelBuffer.filled(with: backgroundColor.pixelColor, size: pixels.size)
            return try StandardTransformer.overlay(pixels, in: nil).transform(canvas, context: context)
        }
    }
}

/// A border.
public struct Border: Hashable, Sendable {
    /// The color.
    public var color: KFCrossPlatformColor
    /// The width, in points.
    public var lineWidth: CGFloat

    /// Creates a border.
    public init(color: KFCrossPlatformColor = .black, lineWidth: CGFloat = 4) {
        self.color = color
        self.lineWidth = lineWidth
    }
}

/// Draws a border inside images.
public struct BorderImageProcessor: StandardProcessor {
    /// The border.
    public let border: Border

    /// Creates a processor.
    public init(border: Border) { self.border = border }

    /// The name and the parameters.
    public var identifier: String { "com.onevcat.Kingfisher.BorderImageProcessor(\(border))" }

    var transformer: (any ImageTransformer)? {
        StandardTransformer.border(width: border.lineWidth, color: border.color.pixelColor, unit: .points)
    }
}

/// Blurs images.
public struct BlurImageProcessor: StandardProcessor {
    /// The standard deviation, in pixels.
    public let blurRadius: CGFloat

    /// Creates a processor.
    public init(blurRadius: CGFloat) { self.blurRadius = blurRadius }

    /// The name and the radius.
    public var identifier: String { "com.onevcat.Kingfisher.BlurImageProcessor(\(blurRadius))" }

    var transformer: (any ImageTransformer)? { StandardTransformer.blur(radius: 2 * blurRadius) }
}

/// Draws a color over images.
public struct OverlayImageProcessor: StandardProcessor {
    /// The color.
    public let overlay: KFCrossPlatformColor
    /// The fraction of the image that remains visible.
    public let fraction: CGFloat

    /// Creates a processor.
    public init(overlay: KFCrossPlatformColor, fraction: CGFloat = 0.5) {
        self.overlay = overlay
        self.fraction = fraction
    }

    /// The name and the parameters.
    public var identifier: String { "com.onevcat.Kingfisher.OverlayImageProcessor(\(overlay.pixelColor)_\(fraction))" }

    var transformer: (any ImageTransformer)? {
        StandardTransformer.tint(overlay.withAlphaComponent(1 - fraction).pixelColor, blendMode: .sourceAtop)
    }
}

/// Replaces the color of images and keeps their transparency.
public struct TintImageProcessor: StandardProcessor {
    /// The color.
    public let tint: KFCrossPlatformColor

    /// Creates a processor.
    public init(tint: KFCrossPlatformColor) { self.tint = tint }

    /// The name and the color.
    public var identifier: String { "com.onevcat.Kingfisher.TintImageProcessor(\(tint.pixelColor))" }

    var transformer: (any ImageTransformer)? { StandardTransformer.tint(tint.pixelColor) }
}

/// Removes the colors of images.
public struct BlackWhiteProcessor: StandardProcessor {
    /// Creates a processor.
    public init() {}

    /// The name.
    public var identifier: String { "com.onevcat.Kingfisher.BlackWhiteProcessor" }

    var transformer: (any ImageTransformer)? { StandardTransformer.grayscale }
}

/// Not available.
@available(
    *, unavailable, message: "Core Image isn’t available. Use .brightness(_:), .contrast(_:), and .saturation(_:)."
)
public struct ColorControlsProcessor {}

/// Not available.
@available(*, unavailable, message: "Use .tint(_:blendMode:) of WebImage with an ImageBlendMode.")
public struct BlendImageProcessor {}

/// Not available.
@available(*, unavailable, message: "Use .tint(_:blendMode:) of WebImage with an ImageBlendMode.")
public struct CompositingImageProcessor {}
