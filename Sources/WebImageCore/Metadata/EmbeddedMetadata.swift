// SPDX-License-Identifier: MIT

import Foundation

/// Blocks of bytes that a picture's file carries beside the pixels.
public struct EmbeddedMetadata: Sendable, Hashable {
    /// The profile of the pixels' colours (ISO 15076-1).
    public var iccProfile: [UInt8]?
    /// EXIF, from its byte order mark on.
    public var exif: [UInt8]?
    /// An XMP packet.
    public var xmp: [UInt8]?

    /// Creates blocks, by default none.
    public init(iccProfile: [UInt8]? = nil, exif: [UInt8]? = nil, xmp: [UInt8]? = nil) {
        self.iccProfile = iccProfile
        self.exif = exif
        self.xmp = xmp
    }

    /// True where there is none.
    public var isEmpty: Bool { iccProfile == nil && exif == nil && xmp == nil }

    /// What is to be written with `image`: for coders.
    ///
    /// The profile, where the pixels are in it; EXIF and XMP after the encoding's policy, fit to upright pixels.
    ///
    /// - Parameter isGray: whether grey alone is written; a profile for the other kind of samples is left out.
    public init(for image: Image, as encoding: ImageEncoding, isGray: Bool = false) {
        if image.metadata.color == .source, let profile = image.metadata.iccProfile,
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
        block.fit(image.size, isSRGB: image.metadata.color == .sRGB)
        if !keepsLocation { block = block.withoutLocation }
        if !block.isEmpty { exif = block.serialized() }
    }

    /// Whether a profile is there that speaks of grey samples (ISO 15076-1, table 15: bytes 16 to 19).
    public static func isGrayProfile(_ profile: [UInt8]) -> Bool { isProfile(profile, forGray: true) }

    private static func isProfile(_ profile: [UInt8], forGray: Bool) -> Bool {
        profile.count >= 128 && Array(profile[16..<20]) == Array((forGray ? "GRAY" : "RGB ").utf8)
    }
}

extension EmbeddedMetadata {
    /// The EXIF block of `data`, a whole file, and its XMP packet, unchanged; the profile is in a decoded picture's metadata.
    /// JPEG, PNG, WebP, AVIF, HEIF, JPEG XL (where its boxes are not compressed) and TIFF have them. What is damaged or has
    /// more than 1 MiB is left out. Pure Swift, reads nothing beyond `data`.
    public init(reading data: Data) {
        self = data.withUnsafeBytes { bytes in
            var reader = MetadataReader(HeaderBytes(bytes, isComplete: true))
            reader.read(ImageFormat.sniff(data))
            return EmbeddedMetadata(exif: reader.exif, xmp: reader.xmp)
        }
    }
}
