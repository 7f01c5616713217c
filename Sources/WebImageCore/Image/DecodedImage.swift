// SPDX-License-Identifier: MIT

import Foundation

/// A decoded image: a still image, or the poster frame and the frame provider of an animation.
///
/// An image is immutable, and its EXIF orientation is already applied. The caches return the same object for the same
/// image, regardless of the tier.
public final class DecodedImage: Sendable, CustomStringConvertible {
    /// The pixels of a still image, or the poster frame (the first frame) of an animation.
    public let pixels: PixelBuffer
    /// The frames of an animation, or `nil` for still images.
    public let animation: ImageAnimation?
    /// The number of pixels per point. The value is 1 unless the request sets another scale.
    public let scale: Double
    /// The format of the encoded image, or `nil` for images that were created in memory.
    public let format: ImageFormat?
    /// The metadata of the encoded image.
    public let metadata: ImageMetadata
    /// The gain map that turns the image into one with a high dynamic range, or `nil` if there's none.
    ///
    /// Results have it only if ``ImageDecodingOptions/dynamicRange`` is ``ImageDecodingOptions/DynamicRange/high``.
    /// Transformers that resize, crop, flip, or rotate the image do the same to the gain map, and other transformers
    /// that change pixels remove it.
    public let gainMap: GainMap?
    /// The source of the image, which only the manager sets and reads.
    package let provenance: (any Sendable)?
    /// The data of the lossy encoding that the pixels were decoded from, or `nil` for other images.
    package let encodedForm: EncodedForm?
    /// The way in which the image was made from its data.
    package let history: ImageHistory

    /// Creates an image.
    public convenience init(
        pixels: PixelBuffer, animation: ImageAnimation? = nil, scale: Double = 1, format: ImageFormat? = nil,
        metadata: ImageMetadata? = nil
    ) {
        self.init(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata, gainMap: nil,
            provenance: nil, encodedForm: nil, history: ImageHistory())
    }

    private init(
        pixels: PixelBuffer, animation: ImageAnimation?, scale: Double, format: ImageFormat?,
        metadata: ImageMetadata?, gainMap: GainMap?, provenance: (any Sendable)?, encodedForm: EncodedForm?,
        history: ImageHistory
    ) {
        self.pixels = pixels
        self.animation = animation
        self.scale = scale
        self.format = format
        self.metadata = metadata ?? ImageMetadata(storedSize: pixels.size, hasAlpha: !pixels.isOpaque)
        self.gainMap = gainMap
        self.provenance = provenance
        self.encodedForm = encodedForm
        self.history = history
    }

    /// Creates an image with the content of another one.
    package convenience init(copying other: DecodedImage) {
        self.init(
            pixels: other.pixels, animation: other.animation, scale: other.scale, format: other.format,
            metadata: other.metadata, gainMap: other.gainMap, provenance: other.provenance,
            encodedForm: other.encodedForm,
            history: other.history)
    }

    /// The size in pixels, with the EXIF orientation applied.
    public var size: PixelSize { pixels.size }
    /// A Boolean value that indicates whether every pixel is opaque. For animations, the value describes the poster
    /// frame.
    public var isOpaque: Bool { pixels.isOpaque }
    /// A Boolean value that indicates whether the image has more than one frame.
    public var isAnimated: Bool { animation != nil }
    /// The number of frames, which is 1 for still images.
    public var frameCount: Int { animation?.frameCount ?? 1 }
    /// The memory that the image occupies in bytes, for cost limits.
    public var cost: Int {
        pixels.byteCount + (animation?.cost ?? 0) + (encodedForm?.data.count ?? 0) + (gainMap?.pixels.byteCount ?? 0)
    }
    /// A Boolean value that indicates whether the image has a high dynamic range: a gain map, or PQ or HLG samples.
    ///
    /// The value is `false` for images that were decoded for standard dynamic range, which is the default. The samples of
    /// a PQ or HLG image aren't sRGB, so use `rendered(headroom:as:primaries:)` before you display them.
    public var isHDR: Bool { gainMap != nil || metadata.hasHDRSamples }
    /// The code points of pixels that a toolkit must convert for a monitor: those of Display P3, PQ, and HLG. The value is
    /// `nil` for other pixels, which toolkits display as sRGB. The frames of animations don't have a color space of their
    /// own, so animations appear as sRGB.
    package var displayedCodePoints: ColorCodePoints? {
        guard !isAnimated else { return nil }
        return metadata.color == .displayP3 ? .displayP3 : metadata.hasHDRSamples ? metadata.codePoints : nil
    }

    /// A short description, for example `jpeg 640x480` or `gif 32x32, 12 frames`.
    public var description: String {
        let kind = format.map { "\($0) " } ?? ""
        return "\(kind)\(size)\(isAnimated ? ", \(frameCount) frames" : "")"
    }

    /// Returns the image with other pixels and the same scale, format, and metadata. Transformers create their results
    /// with this method.
    package func replacing(pixels: PixelBuffer, animation: ImageAnimation?, gainMap: GainMap? = nil) -> DecodedImage {
        DecodedImage(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata, gainMap: gainMap,
            provenance: provenance, encodedForm: nil, history: history)
    }

    /// Returns the image with other metadata.
    package func with(metadata: ImageMetadata) -> DecodedImage {
        DecodedImage(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata,
            gainMap: gainMap, provenance: provenance, encodedForm: nil, history: history)
    }

    /// Returns the image with the format and the metadata of another file, from which its pixels were made.
    package func with(format: ImageFormat?, metadata: ImageMetadata) -> DecodedImage {
        DecodedImage(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata,
            gainMap: gainMap, provenance: provenance, encodedForm: encodedForm, history: history)
    }

    /// Returns the image with a gain map, or without one.
    package func with(gainMap: GainMap?) -> DecodedImage {
        DecodedImage(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata, gainMap: gainMap,
            provenance: provenance, encodedForm: nil, history: history)
    }

    /// Returns the image with its source.
    package func with(provenance: any Sendable) -> DecodedImage {
        DecodedImage(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata,
            gainMap: gainMap, provenance: provenance, encodedForm: encodedForm, history: history)
    }

    /// Returns the image with another history.
    package func with(history: ImageHistory) -> DecodedImage {
        DecodedImage(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata,
            gainMap: gainMap, provenance: provenance, encodedForm: encodedForm, history: history)
    }

    /// Returns the image with the encoded data that its pixels were decoded from.
    package func with(encodedForm: EncodedForm) -> DecodedImage {
        DecodedImage(
            pixels: pixels, animation: animation, scale: scale, format: format, metadata: metadata,
            gainMap: gainMap, provenance: provenance, encodedForm: encodedForm, history: history)
    }
}

/// An encoding and the encoded data that it produced from an image.
package struct EncodedForm: Sendable {
    package let encoding: ImageEncoding
    package let data: Data

    package init(encoding: ImageEncoding, data: Data) {
        self.encoding = encoding
        self.data = data
    }
}

/// The metadata of an encoded image.
public struct ImageMetadata: Sendable, Hashable {
    /// The stored size in pixels, before the EXIF orientation and any scaling are applied.
    public var storedSize: PixelSize
    /// The orientation that the file declares. Decoders have already applied it to the pixels.
    public var orientation: ImageOrientation
    /// The number of bits per sample in the file.
    public var bitDepth: Int
    /// A Boolean value that indicates whether the file contains transparency.
    public var hasAlpha: Bool
    /// A Boolean value that indicates whether the data is truncated or corrupt, so that pixels or frames are missing or may be
    /// wrong.
    ///
    /// For example, the value is `true` for the complete frames of a truncated GIF file, and for a PNG image whose pixels
    /// are complete but don't match their checksum.
    public var isPartial: Bool
    /// The unmodified embedded ICC profile, or `nil` if the file has none.
    ///
    /// If a PNG file describes a color space other than sRGB only with `gAMA` and `cHRM`, the value is an equivalent
    /// profile.
    public var iccProfile: Data?
    /// The color primaries of the pixels as a code point of ITU-T H.273, or `nil` if the file has no code points.
    ///
    /// Common values are 1 (BT.709 and sRGB), 9 (BT.2020), 12 (Display P3), and 2 (unspecified). PNG (`cICP`), AVIF and
    /// HEIF (`nclx`), JPEG XL, and ICC profiles with the tag `cicp` contain code points. If ``color`` is
    /// ``ImageColorSpace/source``, the value is that of the file. If the decoder converted the pixels, the value is 1 for sRGB and 12 for Display P3. The default is
    /// `nil`.
    public var colorPrimaries: Int?
    /// The transfer characteristics of the pixels as a code point of ITU-T H.273, or `nil` if the file has no code points.
    ///
    /// Common values are 1 (BT.709), 8 (linear), 13 (sRGB), 16 (PQ), 18 (HLG), and 2 (unspecified). If ``color`` is
    /// ``ImageColorSpace/source``, the value is that of the file. If the decoder converted the pixels to sRGB or Display
    /// P3, it's 13. The default is `nil`.
    public var transferCharacteristics: Int?
    /// The color space of the pixels. The default is ``ImageColorSpace/sRGB``.
    ///
    /// If the value is ``ImageColorSpace/source``, ``iccProfile``, ``colorPrimaries``, and ``transferCharacteristics``
    /// describe the colors of the pixels. Otherwise, ``iccProfile`` describes only the colors of the file.
    public var color: ImageColorSpace
    /// The code points of the file, which differ from ``codePoints`` if the decoder converted the pixels. It's `nil` if the
    /// file has none.
    package var fileCodePoints: ColorCodePoints?
    /// Whether the file contains a gain map, also if the image was decoded without it.
    ///
    /// ``ImageCoderRegistry`` sets it.
    package var hasGainMap = false
    /// The curve of the samples of the file. It's relevant only if the pixels have the color space of the file. The
    /// default is that of sRGB.
    package var sourceCurve = LightCurve.sRGB
    /// The EXIF block to encode with the image, starting with its byte order mark.
    ///
    /// Decoders don't set this property. To read the block of a file, use ``embedded(in:)``. The default is `nil`.
    public var exif: Data?
    /// The XMP packet to encode with the image.
    ///
    /// Decoders don't set this property. To read the packet of a file, use ``embedded(in:)``. The default is `nil`.
    public var xmp: Data?
    /// The short description of the image for people who can't see it, or `nil` if the file has none.
    ///
    /// Decoders read it from the XMP property `Iptc4xmpCore:AltTextAccessibility` (IPTC Photo Metadata Standard 2021.1). If
    /// there are texts in several languages, the value is the one for `x-default`, and otherwise the first one. It
    /// contains at most 4,096 characters, and no control characters. An encoder writes ``xmp`` instead.
    public var alternativeText: String?
    /// The long description of the image for people who can't see it, or `nil` if the file has none.
    ///
    /// Decoders read it from the XMP property `Iptc4xmpCore:ExtDescrAccessibility`, like ``alternativeText``.
    public var extendedDescription: String?
    /// An EXIF block with only the author and the copyright of the file, or `nil` if the file has neither.
    ///
    /// ``ImageCoderRegistry`` reads it, so the policy ``ImageEncoding/MetadataPolicy/keepCopyright`` doesn't need the
    /// original data.
    package var rights: Data?
    /// The maximum size of ``rights`` in bytes, because images in memory retain them. Larger blocks are omitted.
    package static let maxRightsByteCount = 16 << 10

    /// Creates metadata. Set the other values as properties.
    ///
    /// The orientation is ``ImageOrientation/up``, and the bit depth is 8.
    ///
    /// - Parameter storedSize: The stored size in pixels, before the orientation and any scaling are applied.
    public init(storedSize: PixelSize) {
        self.init(storedSize: storedSize, orientation: .up)
    }

    /// Creates metadata with a value for each property.
    @_disfavoredOverload
    package init(
        storedSize: PixelSize, orientation: ImageOrientation = .up, bitDepth: Int = 8, hasAlpha: Bool = false,
        isPartial: Bool = false, iccProfile: [UInt8]? = nil, codePoints: ColorCodePoints? = nil,
        color: ImageColorSpace = .sRGB, sourceCurve: LightCurve = .sRGB, exif: [UInt8]? = nil, xmp: [UInt8]? = nil
    ) {
        self.storedSize = storedSize
        self.orientation = orientation
        self.bitDepth = bitDepth
        self.hasAlpha = hasAlpha
        self.isPartial = isPartial
        self.iccProfile = iccProfile.map { Data($0) }
        self.color = color
        self.sourceCurve = sourceCurve
        self.exif = exif.map { Data($0) }
        self.xmp = xmp.map { Data($0) }
        fileCodePoints = codePoints ?? iccProfile.flatMap { ColorCodePoints(iccProfile: $0) }
        describePixels(in: color)
    }

    /// Sets the color space of the pixels, and the code points that describe it if the file has any.
    package mutating func describePixels(in color: ImageColorSpace) {
        self.color = color
        // A custom coder sets the code points itself.
        guard let fileCodePoints else { return }
        let points = color.codePoints ?? fileCodePoints
        (colorPrimaries, transferCharacteristics) = (points.primaries, points.transfer)
    }

    /// Whether the samples of the pixels are those of PQ or HLG.
    package var hasHDRSamples: Bool { color == .source && codePoints?.isHDR == true }

    /// The curve of the samples of the pixels.
    package var lightCurve: LightCurve {
        guard color == .source else { return .sRGB }
        // Applications can create metadata with code points.
        switch transferCharacteristics {
        case 16: return .pq
        case 18: return .hlg
        default: return sourceCurve
        }
    }

    /// The code points of the color space of the source: those of the pixels if the decoder didn't convert them, and
    /// otherwise those of the file.
    package var sourceCodePoints: ColorCodePoints? { color == .source ? codePoints : fileCodePoints }

    /// The code points that describe the colors of the pixels, or `nil` if there are none. If only one of the two
    /// numbers is set, the other one is 2 (unspecified).
    package var codePoints: ColorCodePoints? {
        guard colorPrimaries != nil || transferCharacteristics != nil else { return nil }
        return ColorCodePoints(primaries: colorPrimaries ?? 2, transfer: transferCharacteristics ?? 2)
    }
}
