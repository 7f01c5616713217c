// SPDX-License-Identifier: MIT

/// A transformer of this library. To create one, use the static members of ``ImageTransformer``, such as
/// `.resize(width: 200)`.
///
/// All lengths are in pixels by default. With the unit ``TargetSize/Unit/points``, they're multiplied by
/// ``ImageProcessingContext/scale``. Two transformers are equal if they have the same effect.
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
