// SPDX-License-Identifier: MIT

import Foundation

/// Metadata blocks that an image file contains in addition to the pixels.
public struct EmbeddedMetadata: Sendable, Hashable {
    /// The ICC profile of the pixels (ISO 15076-1).
    public var iccProfile: [UInt8]?
    /// The EXIF block, starting with its byte order mark.
    public var exif: [UInt8]?
    /// The XMP packet.
    public var xmp: [UInt8]?

    /// Creates a set of blocks. By default, it's empty.
    public init(iccProfile: [UInt8]? = nil, exif: [UInt8]? = nil, xmp: [UInt8]? = nil) {
        self.iccProfile = iccProfile
        self.exif = exif
        self.xmp = xmp
    }

    /// A Boolean value that indicates whether there are no blocks.
    public var isEmpty: Bool { iccProfile == nil && exif == nil && xmp == nil }

    /// Creates the blocks that a coder writes with `image`.
    ///
    /// The result includes the profile if the pixels use it. EXIF and XMP follow the policy of the encoding and are
    /// adapted to pixels whose orientation is applied.
    ///
    /// - Parameter isGray: Whether the encoder writes only gray samples. A profile for the other kind of samples is
    ///   omitted.
    public init(for image: DecodedImage, as encoding: ImageEncoding, isGray: Bool = false) {
        if !image.metadata.isConvertedToSRGB, let profile = image.metadata.iccProfile,
            Self.isProfile(profile, forGray: isGray)
        {
            iccProfile = profile
        }
        guard encoding.metadata != .strip else { return }
        let keepsLocation = encoding.metadata == .keep
        xmp = image.metadata.xmp.flatMap { XMPPacket.prepared($0, allowsLocation: keepsLocation) }
        guard let stored = image.metadata.exif, stored.count <= ExifBlock.maxBytes, var block = ExifBlock(stored) else {
            return
        }
        block.fit(image.size, isSRGB: image.metadata.isConvertedToSRGB)
        if !keepsLocation { block = block.withoutLocation }
        if !block.isEmpty { exif = block.serialized() }
    }

    /// Returns whether a profile describes gray samples (ISO 15076-1, table 15, bytes 16 to 19).
    public static func isGrayProfile(_ profile: [UInt8]) -> Bool { isProfile(profile, forGray: true) }

    private static func isProfile(_ profile: [UInt8], forGray: Bool) -> Bool {
        profile.count >= 128 && Array(profile[16..<20]) == Array((forGray ? "GRAY" : "RGB ").utf8)
    }
}

extension EmbeddedMetadata {
    /// Creates the unmodified EXIF block and XMP packet of `data`, which must be a whole file.
    ///
    /// This initializer supports JPEG, PNG, WebP, AVIF, HEIF, JPEG XL (if its boxes aren't compressed), and TIFF. It
    /// omits invalid blocks and blocks of more than 1 MiB. It doesn't read the color profile, which is part of the
    /// metadata of a decoded image. The implementation is pure Swift and reads nothing beyond `data`.
    public init(reading data: Data) {
        self = data.withUnsafeBytes { bytes in
            var reader = MetadataReader(HeaderBytes(bytes, isComplete: true))
            reader.read(ImageFormat(sniffing: data))
            return EmbeddedMetadata(exif: reader.exif, xmp: reader.xmp)
        }
    }
}
