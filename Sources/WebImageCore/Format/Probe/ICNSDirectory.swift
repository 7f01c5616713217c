// SPDX-License-Identifier: MIT

/// The list of images in an Apple icon file (`icns`), in the order of the file.
///
/// The list contains the types with 24-bit colors and those of later systems. Icons with up to 8 bits per pixel, from
/// before 1997, aren't part of it.
package struct ICNSDirectory: Sendable {
    /// The encoding of an icon.
    package enum Coding: Sendable, Hashable {
        /// A PNG file.
        case png
        /// A JP2 file or a JPEG 2000 codestream.
        case jpeg2000
        /// Alpha, red, green, and blue planes, each with run lengths.
        case argb
        /// Red, green, and blue planes, each with run lengths. The alpha plane is a separate entry.
        case rgb
    }

    /// An image.
    package struct Icon: Sendable, Hashable {
        /// The width and height that the type of the entry defines, in pixels.
        package var side: Int
        /// The encoding of ``range``.
        package var coding: Coding
        /// The position of the image, which may end after the available data.
        package var range: Range<Int>
        /// The position of the alpha plane, or `nil` if the image is opaque or contains its own alpha.
        package var mask: Range<Int>?
    }

    /// The images. There's at least one.
    package private(set) var icons: [Icon] = []

    /// Reads the list.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, or an ``ImageError/LimitFailure`` of kind `metadataSize`.
    package init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageError) {
        do throws(HeaderParsingError) {
            try self.init(HeaderBytes(UnsafeRawBufferPointer(bytes), isComplete: true))
        } catch {
            throw error.imageError(.icns, received: bytes.count)
        }
    }

    init(_ bytes: HeaderBytes) throws(HeaderParsingError) {
        let end = try bytes.big32(at: 4)
        var masks: [Int: Range<Int>] = [:]
        var offset = 8
        var count = 0
        while offset + 8 <= end {
            count += 1
            try HeaderParsingError.check(count, limit: HeaderBounds.icnsEntries, "entries in an icon file")
            let name = try FourCC(bytes, at: offset)
            let length = try bytes.big32(at: offset + 4)
            guard length >= 8 else { throw .corrupt(.icns, "an entry has a length of \(length) bytes") }
            guard offset + length <= end else { throw .outside }
            let content = offset + 8..<offset + length
            if let side = Self.masks[name] {
                masks[side] = content
            } else if let kind = Self.kinds[name], let icon = try Self.icon(kind, content, bytes) {
                icons.append(icon)
            }
            offset += length
        }
        guard !icons.isEmpty else { throw .unsupported(.icns, "icons with up to 8 bits per pixel") }
        for index in icons.indices where icons[index].coding == .rgb { icons[index].mask = masks[icons[index].side] }
    }

    /// The index of the largest image. If several have the same size, it's the first of them.
    package var largest: Int { icons.indices.reduce(0) { icons[$1].side > icons[$0].side ? $1 : $0 } }

    /// Returns whether the lengths after the signature are plausible.
    static func isPlausible(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        guard try bytes.has("icns") else { return false }
        let end = try bytes.big32(at: 4)
        guard end >= 16 else { return false }
        let length = try bytes.big32(at: 12)
        return length >= 8 && length <= end - 8
    }

    private struct Kind {
        let side: Int
        /// The encoding of data without the signature of a file.
        let plain: Coding?
    }

    private static func icon(
        _ kind: Kind, _ range: Range<Int>, _ bytes: HeaderBytes
    ) throws(HeaderParsingError) -> Icon? {
        let content = try bytes.part(at: range.lowerBound, length: range.count)
        if try content.has(PNGProbe.signature) { return Icon(side: kind.side, coding: .png, range: range) }
        let isCodestream = try content.has(JPEG2000Probe.codestreamMark)
        let isJP2 = try content.has(JPEG2000Probe.signature)
        if isCodestream || isJP2 {
            return Icon(side: kind.side, coding: .jpeg2000, range: range)
        }
        if try content.has("ARGB") {
            return Icon(side: kind.side, coding: .argb, range: range.lowerBound + 4..<range.upperBound)
        }
        // The largest type with separate planes begins with four bytes of zero.
        let header = kind.side == 128 && range.count >= 4 ? 4 : 0
        return kind.plain.map {
            Icon(side: kind.side, coding: $0, range: range.lowerBound + header..<range.upperBound)
        }
    }

    /// The types of icons (as documented by libicns and in the Wikipedia article “Apple Icon Image format”).
    private static let kinds: [FourCC: Kind] = [
        "is32": Kind(side: 16, plain: .rgb), "il32": Kind(side: 32, plain: .rgb), "ih32": Kind(side: 48, plain: .rgb),
        "it32": Kind(side: 128, plain: .rgb), "icp4": Kind(side: 16, plain: .rgb), "icp5": Kind(side: 32, plain: .rgb),
        "icp6": Kind(side: 64, plain: nil), "ic04": Kind(side: 16, plain: nil), "ic05": Kind(side: 32, plain: nil),
        "icsb": Kind(side: 18, plain: nil), "icsB": Kind(side: 36, plain: nil), "sb24": Kind(side: 24, plain: nil),
        "SB24": Kind(side: 48, plain: nil), "ic07": Kind(side: 128, plain: nil), "ic08": Kind(side: 256, plain: nil),
        "ic09": Kind(side: 512, plain: nil), "ic10": Kind(side: 1_024, plain: nil), "ic11": Kind(side: 32, plain: nil),
        "ic12": Kind(side: 64, plain: nil), "ic13": Kind(side: 256, plain: nil), "ic14": Kind(side: 512, plain: nil),
    ]
    private static let masks: [FourCC: Int] = ["s8mk": 16, "l8mk": 32, "h8mk": 48, "t8mk": 128]
}
