// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import WebImage

/// A type that processes images. Its ``identifier`` is part of the cache key.
public protocol ImageProcessing: Sendable {
    /// Returns the processed image, or `nil` if the processing fails. It’s called on worker threads.
    func process(_ image: PlatformImage) -> PlatformImage?
    /// Returns the processed image. The default implementation calls ``process(_:)``.
    func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer
    /// A string that differs for processors with different results.
    var identifier: String { get }
    /// A value that differs for processors with different results. The default is the identifier.
    var hashableIdentifier: AnyHashable { get }
}

extension ImageProcessing {
    /// The default implementation, which calls ``process(_:)``.
    public func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
        guard let image = process(container.image) else { throw ImageProcessingError.unknown }
        var container = container
        container.image = image
        return container
    }

    /// The identifier.
    public var hashableIdentifier: AnyHashable { identifier }

    /// The transformer of WebImage.
    var mapped: NamedTransformer {
        if let known = self as? any StandardProcessor {
            let transformer = known.transformer
            return NamedTransformer(identifier) { try transformer.transform($0, context: $1) }
        }
        return NamedTransformer(identifier) { pixels, context in
            let container = ImageContainer(image: UIImage(decoded: DecodedImage(pixels: pixels, scale: context.scale)))
            let context = ImageProcessingContext(request: "", response: nil, isCompleted: true)
            return try process(container, context: context).image.decoded.pixels
        }
    }
}

/// An error of a processor.
public enum ImageProcessingError: Error, Sendable {
    /// The processor returned `nil`.
    case unknown
}

/// The circumstances of a processing.
public struct ImageProcessingContext: Sendable {
    /// The request.
    public var request: ImageRequest
    /// The response.
    public var response: ImageResponse?
    /// A Boolean value that indicates whether the image is complete, instead of a preview.
    public var isCompleted: Bool

    /// Creates a context.
    public init(request: ImageRequest, response: ImageResponse?, isCompleted: Bool) {
        self.request = request
        self.response = response
        self.isCompleted = isCompleted
    }
}

/// The types of the parameters of processors.
public enum ImageProcessingOptions: Sendable {
    /// The unit of lengths.
    public enum Unit: Sendable {
        /// Points, which are pixels divided by the scale of the image.
        case points
        /// Pixels.
        case pixels

        var mapped: TargetSize.Unit { self == .points ? .points : .pixels }
    }

    /// How an image is resized.
    public enum ContentMode: Sendable {
        /// Fills the size and keeps the aspect ratio.
        case aspectFill
        /// Fits into the size and keeps the aspect ratio.
        case aspectFit
    }

    /// A border.
    public struct Border: Hashable, Sendable {
        /// The width.
        public let width: CGFloat
        let color: UIColor
        let unit: Unit

        /// Creates a border.
        public init(color: UIColor, width: CGFloat = 1, unit: Unit = .points) {
            self.color = color
            self.width = width
            self.unit = unit
        }
    }
}

/// A processor that contains a transformer of WebImage.
protocol StandardProcessor: ImageProcessing {
    var transformer: any ImageTransformer { get }
}

extension StandardProcessor {
    /// Returns the processed image, or `nil` if a parameter isn’t valid for it.
    public func process(_ image: PlatformImage) -> PlatformImage? { transformer(image) }

    /// The identifier of the transformer of WebImage.
    public var identifier: String { transformer.identifier }
}

/// The processors.
public enum ImageProcessors {
    /// Resizes images.
    public struct Resize: ImageProcessing, StandardProcessor {
        let transformer: any ImageTransformer

        /// Creates a processor for a size.
        public init(
            size: CGSize, unit: ImageProcessingOptions.Unit = .points,
            contentMode: ImageProcessingOptions.ContentMode = .aspectFill, crop: Bool = false, upscale: Bool = false
        ) {
            guard !upscale else {
                // Nuke’s default mode fills the size without cropping, for which WebImage has no enlarging transformer.
                let mode: StandardTransformer.ContentMode = contentMode == .aspectFill ? .fill : .fit
                transformer = StandardTransformer.canvas(
                    width: size.width, height: size.height, mode: mode, upscales: true, unit: unit.mapped)
                return
            }
            guard contentMode == .aspectFill, !crop else {
                transformer = StandardTransformer.resize(Self.target(size, unit, contentMode, crop: crop))
                return
            }
            transformer = Self.covering(size, unit)
        }

        /// Creates a processor for a width.
        public init(width: CGFloat, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false) {
            transformer = StandardTransformer.resize(width: width, unit: unit.mapped, upscales: upscale)
        }

        /// Creates a processor for a height.
        public init(height: CGFloat, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false) {
            transformer = StandardTransformer.resize(height: Double(height), unit: unit.mapped, upscales: upscale)
        }

        static func target(
            _ size: CGSize, _ unit: ImageProcessingOptions.Unit, _ mode: ImageProcessingOptions.ContentMode, crop: Bool
        ) -> TargetSize {
            mode == .aspectFill
                ? .fill(width: size.width, height: size.height, unit: unit.mapped)
                : .fit(width: size.width, height: size.height, unit: unit.mapped)
        }

        /// Returns a transformer that covers a size without cropping and without enlarging.
        private static func covering(_ size: CGSize, _ unit: ImageProcessingOptions.Unit) -> any ImageTransformer {
            NamedTransformer("nuke.covering(\(size.width),\(size.height),\(unit))") { pixels, context in
                let scale = unit == .points ? context.scale : 1
                let factor = max(
                    size.width * scale / Double(pixels.width), size.height * scale / Double(pixels.height))
                guard factor < 1, factor > 0 else { return pixels }
                let target = TargetSize.stretch(
                    width: (Double(pixels.width) * factor).rounded(), height: (Double(pixels.height) * factor).rounded()
                )
                return try StandardTransformer.resize(target).transform(pixels, context: context)
            }
        }
    }

    /// Crops images to a circle.
    public struct Circle: ImageProcessing, StandardProcessor {
        let transformer: any ImageTransformer

        /// Creates a processor.
        public init(border: ImageProcessingOptions.Border? = nil) {
            transformer =
                border.map {
                    StandardTransformer.circle(
                        borderWidth: $0.width, borderColor: $0.color.pixelColor, unit: $0.unit.mapped)
                } ?? StandardTransformer.circle
        }
    }

    /// Rounds corners.
    public struct RoundedCorners: ImageProcessing, StandardProcessor {
        let transformer: any ImageTransformer

        /// Creates a processor. The border has the unit of the radius.
        public init(
            radius: CGFloat, unit: ImageProcessingOptions.Unit = .points, border: ImageProcessingOptions.Border? = nil
        ) {
            transformer = StandardTransformer.roundedCorners(
                radius: radius, borderWidth: Double(border?.width ?? 0),
                borderColor: border?.color.pixelColor ?? .clear,
                unit: unit.mapped)
        }
    }

    /// Blurs images.
    public struct GaussianBlur: ImageProcessing, StandardProcessor {
        let transformer: any ImageTransformer

        /// Creates a processor. The radius is the standard deviation, in pixels.
        public init(radius: Int = 8) { transformer = StandardTransformer.blur(radius: 2 * Double(max(0, radius))) }
    }

    /// Applies several processors in order.
    public struct Composition: ImageProcessing, StandardProcessor {
        let transformer: any ImageTransformer
        /// The processors.
        public let processors: [any ImageProcessing]

        /// Creates a processor.
        public init(_ processors: [any ImageProcessing]) {
            self.processors = processors
            transformer = StandardTransformer.combined(processors.map(\.mapped))
        }
    }

    /// Processes images with a closure.
    public struct Anonymous: ImageProcessing {
        /// The identifier.
        public let identifier: String
        private let closure: @Sendable (PlatformImage) -> PlatformImage?

        /// Creates a processor. The closure is called on worker threads.
        public init(id: String, _ closure: @escaping @Sendable (PlatformImage) -> PlatformImage?) {
            identifier = id
            self.closure = closure
        }

        /// Calls the closure.
        public func process(_ image: PlatformImage) -> PlatformImage? { closure(image) }
    }

    /// Not available.
    @available(*, unavailable, message: "Core Image isn’t available. Use .colorMatrix(_:) of WebImage.")
    public enum CoreImageFilter {}
}

extension ImageProcessing where Self == ImageProcessors.Resize {
    /// Resizes images to a size.
    public static func resize(
        size: CGSize, unit: ImageProcessingOptions.Unit = .points,
        contentMode: ImageProcessingOptions.ContentMode = .aspectFill, crop: Bool = false, upscale: Bool = false
    ) -> ImageProcessors.Resize {
        ImageProcessors.Resize(size: size, unit: unit, contentMode: contentMode, crop: crop, upscale: upscale)
    }

    /// Resizes images to a width.
    public static func resize(
        width: CGFloat, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false
    ) -> ImageProcessors.Resize {
        ImageProcessors.Resize(width: width, unit: unit, upscale: upscale)
    }

    /// Resizes images to a height.
    public static func resize(
        height: CGFloat, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false
    ) -> ImageProcessors.Resize {
        ImageProcessors.Resize(height: height, unit: unit, upscale: upscale)
    }
}

extension ImageProcessing where Self == ImageProcessors.Circle {
    /// Crops images to a circle.
    public static func circle(border: ImageProcessingOptions.Border? = nil) -> ImageProcessors.Circle {
        ImageProcessors.Circle(border: border)
    }
}

extension ImageProcessing where Self == ImageProcessors.RoundedCorners {
    /// Rounds corners.
    public static func roundedCorners(
        radius: CGFloat, unit: ImageProcessingOptions.Unit = .points, border: ImageProcessingOptions.Border? = nil
    ) -> ImageProcessors.RoundedCorners {
        ImageProcessors.RoundedCorners(radius: radius, unit: unit, border: border)
    }
}

extension ImageProcessing where Self == ImageProcessors.GaussianBlur {
    /// Blurs images.
    public static func gaussianBlur(radius: Int = 8) -> ImageProcessors.GaussianBlur {
        ImageProcessors.GaussianBlur(radius: radius)
    }
}

extension ImageProcessing where Self == ImageProcessors.Anonymous {
    /// Processes images with a closure.
    public static func process(
        id: String, _ closure: @escaping @Sendable (PlatformImage) -> PlatformImage?
    ) -> ImageProcessors.Anonymous {
        ImageProcessors.Anonymous(id: id, closure)
    }
}
