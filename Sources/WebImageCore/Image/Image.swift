// SPDX-License-Identifier: MIT

import Foundation

/// A decoded picture: a still, or the poster and the frame provider of an animation. Immutable; orientation is
/// already applied. The same picture is the same object whichever tier of the cache it came from.
public final class Image: Sendable {
    /// The pixels of a still, or of an animation's poster (its first frame).
    public let pixels: PixelBuffer
    /// The frames, nil for stills.
    public let animation: ImageAnimation?
    /// Pixels per point; 1 unless the request said otherwise.
    public let scale: Double
    /// What the bytes were; nil for pictures made in memory.
    public let format: ImageFormat?
    /// What the file said about itself.
    public let metadata: ImageMetadata
    /// Where a manager got the picture from; not looked at here.
    package let provenance: (any Sendable)?
    /// The encoded bytes that the pixels were decoded from after an encoding that loses something; nil for other pictures.
    package let encodedForm: EncodedForm?

    /// Creates a picture.
    public convenience init(
        pixels: PixelBuffer, animation: ImageAnimation? = nil, scale: Double = 1, format: ImageFormat? = nil,
        metadata: ImageMetadata? = nil
    ) {
        self.init(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata, provenance: nil,
            encodedForm: nil)
    }

    private init(
        pixels: PixelBuffer, animation: ImageAnimation?, scale: Double, format: ImageFormat?,
        metadata: ImageMetadata?, provenance: (any Sendable)?, encodedForm: EncodedForm?
    ) {
        self.pixels = pixels
        self.animation = animation
        self.scale = scale
        self.format = format
        self.metadata = metadata ?? ImageMetadata(rawSize: pixels.size, hasAlpha: !pixels.isOpaque)
        self.provenance = provenance
        self.encodedForm = encodedForm
    }

    /// Upright width and height in pixels.
    public var size: PixelSize { pixels.size }
    /// True when every pixel is opaque; for animations that of the poster.
    public var isOpaque: Bool { pixels.isOpaque }
    /// True when there is more than one frame.
    public var isAnimated: Bool { animation != nil }
    /// Frames; 1 for stills.
    public var frameCount: Int { animation?.timeline.frameCount ?? 1 }
    /// Bytes held in memory by this picture, for cost limits.
    public var cost: Int { pixels.byteCount + (animation?.cost ?? 0) + (encodedForm?.data.count ?? 0) }

    /// The same picture with other pixels, as transformers make it; keeps scale, format and metadata.
    public func replacing(pixels: PixelBuffer, animation: ImageAnimation?) -> Image {
        Image(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata,
            provenance: provenance, encodedForm: nil)
    }

    /// The same picture, saying something else about itself.
    package func with(metadata: ImageMetadata) -> Image {
        Image(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata,
            provenance: provenance, encodedForm: nil)
    }

    /// The same picture, telling where it came from.
    package func with(provenance: any Sendable) -> Image {
        Image(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata,
            provenance: provenance, encodedForm: encodedForm)
    }

    /// The same picture with the bytes that its pixels were decoded from.
    package func with(encodedForm: EncodedForm) -> Image {
        Image(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata,
            provenance: provenance, encodedForm: encodedForm)
    }
}

/// An encoding and what it made of a picture.
package struct EncodedForm: Sendable {
    package let encoding: ImageEncoding
    package let data: Data

    package init(encoding: ImageEncoding, data: Data) {
        self.encoding = encoding
        self.data = data
    }
}

/// What an encoded picture said about itself.
public struct ImageMetadata: Sendable, Hashable {
    /// Width and height as stored, before orientation and before any scaling.
    public var rawSize: PixelSize
    /// The orientation that the file asked for and that has been applied.
    public var orientation: Orientation
    /// Bits per sample in the file.
    public var depth: Int
    /// Whether the file carries transparency.
    public var hasAlpha: Bool
    /// Whether pixels are missing because the data ended early.
    public var isPartial: Bool
    /// The embedded ICC profile, unchanged; nil where there is none.
    public var iccProfile: [UInt8]?
    /// The colours that the file names by number, unchanged; nil where it names none.
    public var codePoints: ColorCodePoints?
    /// What the colours of the pixels mean: sRGB, or what ``iccProfile`` and ``codePoints`` say. Default sRGB.
    public var color: DecodeOptions.Color
    /// An EXIF block to be encoded with the picture, from its byte order mark on. Decoders leave it nil; see
    /// ``EmbeddedMetadata/init(reading:)``. Default nil.
    public var exif: [UInt8]?
    /// An XMP packet to be encoded with the picture. Decoders leave it nil; see ``EmbeddedMetadata/init(reading:)``.
    /// Default nil.
    public var xmp: [UInt8]?

    /// Creates metadata.
    public init(
        rawSize: PixelSize, orientation: Orientation = .up, depth: Int = 8, hasAlpha: Bool = false,
        isPartial: Bool = false, iccProfile: [UInt8]? = nil, codePoints: ColorCodePoints? = nil,
        color: DecodeOptions.Color = .sRGB, exif: [UInt8]? = nil, xmp: [UInt8]? = nil
    ) {
        self.rawSize = rawSize
        self.orientation = orientation
        self.depth = depth
        self.hasAlpha = hasAlpha
        self.isPartial = isPartial
        self.iccProfile = iccProfile
        self.codePoints = codePoints
        self.color = color
        self.exif = exif
        self.xmp = xmp
    }
}
