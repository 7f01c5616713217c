// SPDX-License-Identifier: MIT

import Foundation

/// Metadata blocks that an image file contains in addition to the pixels.
package struct EmbeddedMetadata: Sendable, Hashable {
    /// The ICC profile of the pixels (ISO 15076-1).
    package var iccProfile: [UInt8]?
    /// The code points of the pixels (ITU-T H.273), or `nil` if the pixels are sRGB or only a profile describes them. They
    /// aren't a block.
    package var codePoints: ColorCodePoints?
    /// The EXIF block, starting with its byte order mark.
    package var exif: [UInt8]?
    /// The XMP packet.
    package var xmp: [UInt8]?

    /// Creates a set of blocks. By default, it's empty.
    package init(iccProfile: [UInt8]? = nil, exif: [UInt8]? = nil, xmp: [UInt8]? = nil) {
        self.iccProfile = iccProfile
        self.exif = exif
        self.xmp = xmp
    }

    var byteCount: Int { [iccProfile, exif, xmp].reduce(0) { $0 + ($1?.count ?? 0) } }

    /// Whether there are no blocks.
    package var isEmpty: Bool { iccProfile == nil && exif == nil && xmp == nil }

    /// Creates the blocks that a coder writes with `image`.
    ///
    /// The result includes the profile if the pixels use it. EXIF and XMP follow the policy of the encoding and are
    /// adapted to pixels whose orientation is applied.
    ///
    /// - Parameter isGray: Whether the encoder writes only gray samples. A profile for the other kind of samples is
    ///   omitted.
    package init(for image: DecodedImage, as encoding: ImageEncoding, isGray: Bool = false) {
        if image.metadata.color == .source, let profile = image.metadata.iccProfile.map({ [UInt8]($0) }),
            Self.isProfile(profile, forGray: isGray)
        {
            iccProfile = profile
        }
        if image.metadata.color == .source { codePoints = image.metadata.codePoints }
        guard encoding.metadata != .strip else { return }
        let keepsLocation = encoding.metadata == .keep
        let keepsCopyrightOnly = encoding.metadata == .keepCopyright
        xmp = (keepsCopyrightOnly ? nil : image.metadata.xmp).flatMap {
            XMPPacket.prepared([UInt8]($0), allowsLocation: keepsLocation)
        }
        guard let stored = image.metadata.exif, stored.count <= ExifBlock.maxBytes,
            var block = ExifBlock([UInt8](stored))
        else { return }
        block.fit(image.size, isSRGB: image.metadata.color == .sRGB)
        if keepsCopyrightOnly {
            block = block.copyrightOnly
        } else if !keepsLocation {
            block = block.withoutLocation
        }
        if !block.isEmpty { exif = block.serialized() }
    }

    /// Returns whether a profile describes gray or RGB samples (ISO 15076-1, table 15, bytes 16 to 19).
    private static func isProfile(_ profile: [UInt8], forGray: Bool) -> Bool {
        profile.count >= 128 && Array(profile[16..<20]) == Array((forGray ? "GRAY" : "RGB ").utf8)
    }
}

extension EmbeddedMetadata {
    /// Creates the blocks that ``ImageMetadata/embedded(in:)`` returns.
    package init(reading data: Data) {
        self = data.withUnsafeBytes { bytes in
            var reader = MetadataReader(HeaderBytes(bytes, isComplete: true))
            reader.read(ImageFormat(sniffing: data))
            return EmbeddedMetadata(exif: reader.exif, xmp: reader.xmp)
        }
    }
}

extension ImageMetadata {
    func described(by data: HeaderBytes, _ format: ImageFormat?) -> ImageMetadata {
        var reader = MetadataReader(data)
        reader.read(format)
        var metadata = self
        if let packet = reader.xmp {
            let found = XMPDescriptions(packet: packet)
            metadata.alternativeText = found.alternativeText
            metadata.extendedDescription = found.extendedDescription
        }
        if let rights = reader.exif.flatMap(ExifBlock.init(copyrightOf:))?.serialized(),
            rights.count <= Self.maxRightsByteCount
        {
            metadata.rights = Data(rights)
        }
        return metadata
    }

    /// Returns the unmodified EXIF block and XMP packet of an encoded image.
    ///
    /// The EXIF block starts with its byte order mark. This method supports JPEG, PNG, WebP, AVIF, HEIF, JPEG XL (if
    /// its boxes aren't compressed), and TIFF. It omits invalid blocks and blocks of more than 1 MiB. It doesn't return
    /// the color profile, which is part of the metadata of a decoded image. The implementation is pure Swift and reads
    /// nothing beyond `data`. You can call it on any thread.
    ///
    /// - Parameter data: The whole file.
    /// - Returns: The EXIF block and the XMP packet, each of which is `nil` if the file doesn't contain it.
    public static func embedded(in data: Data) -> (exif: Data?, xmp: Data?) {
        let found = EmbeddedMetadata(reading: data)
        return (exif: found.exif.map { Data($0) }, xmp: found.xmp.map { Data($0) })
    }
}
