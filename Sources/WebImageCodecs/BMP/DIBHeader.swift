// SPDX-License-Identifier: MIT

import WebImageCore

/// The header of a device-independent bitmap in a BMP file or an icon, with the color table that follows it. This type
/// supports Microsoft's BITMAPCOREHEADER to BITMAPV5HEADER and IBM's OS/2 2 header.
struct DIBHeader: Sendable {
    enum Compression: Sendable {
        case none
        case runLength4
        case runLength8
        case runLength24
    }

    private(set) var size: PixelSize
    /// Whether rows are stored from top to bottom instead of from bottom to top.
    private(set) var isTopDown = false
    private(set) var bitsPerPixel: Int
    private(set) var compression = Compression.none
    /// The bits of a pixel that contain red, green, blue, and alpha. The alpha mask is zero if there's no alpha.
    private(set) var masks = Masks(red: 0, green: 0, blue: 0, alpha: 0)
    /// Whether alpha belongs to bit fields that the pixels use. It's `false` if the header only specifies a mask
    /// without using bit fields.
    private(set) var hasStatedAlpha = false
    /// The colors as R, G, B, 255 in memory order.
    private(set) var palette: [UInt32] = []

    struct Masks: Sendable, Equatable {
        var red: UInt32
        var green: UInt32
        var blue: UInt32
        var alpha: UInt32
    }

    /// The fields of the header that are needed only during parsing.
    private struct Raw {
        var headerSize: Int
        var compression: UInt32 = 0
        var colorsUsed = 0
        var isOS2 = false
    }

    /// Reads the header and the color table, and moves `reader` past both. Throws an ``ImageError/DecodingFailure``.
    init(_ reader: inout ByteReader, format: ImageFormat = .bmp) throws(ImageError) {
        let start = reader.offset
        guard let headerSize = reader.uint32().map(Int.init) else { throw Self.truncated(reader, format) }
        var raw = Raw(headerSize: headerSize)
        size = PixelSize(width: 0, height: 0)
        bitsPerPixel = 0
        switch headerSize {
        case 12:
            guard readCore(&reader) else { throw Self.truncated(reader, format) }
        case 16...64, 108, 124:
            raw.isOS2 = headerSize != 40 && headerSize != 52 && headerSize != 56 && headerSize <= 64
            guard readInfo(&reader, &raw) else { throw Self.truncated(reader, format) }
        default:
            throw .decoding(.unsupportedFeature(format: format, feature: "a header of \(headerSize) bytes"))
        }
        guard !size.isEmpty else { throw .decoding(.corrupted(format: format, reason: "invalid size \(size)")) }
        try readCompression(raw, format)
        try readMasks(&reader, raw, start: start, format)
        readPalette(&reader, raw, maxEntries: reader.remaining / (headerSize == 12 ? 3 : 4))
    }

    /// Interprets the header as the header of an icon image. The stored height includes a mask below the colors, and
    /// the fourth byte of a pixel is alpha.
    mutating func becomeIcon() {
        size.height = max(1, size.height / 2)
        if bitsPerPixel == 32, compression == .none, masks.alpha == 0 { masks.alpha = 0xFF00_0000 }
    }

    private mutating func readCore(_ reader: inout ByteReader) -> Bool {
        guard let width = reader.uint16(), let height = reader.uint16(), reader.skip(2), let bits = reader.uint16()
        else { return false }
        size = PixelSize(width: width, height: height)
        bitsPerPixel = bits
        return true
    }

    private mutating func readInfo(_ reader: inout ByteReader, _ raw: inout Raw) -> Bool {
        guard let width = reader.uint32(), let height = reader.uint32(), reader.skip(2), let bits = reader.uint16()
        else { return false }
        let signedHeight = Int(Int32(bitPattern: height))
        size = PixelSize(width: Int(Int32(bitPattern: width)), height: abs(signedHeight))
        isTopDown = signedHeight < 0
        bitsPerPixel = bits
        // An OS/2 header may end after any field. Missing fields are zero.
        guard raw.headerSize >= 20 else { return reader.skip(raw.headerSize - 16) }
        guard let compression = reader.uint32() else { return false }
        raw.compression = compression
        guard raw.headerSize >= 36 else { return reader.skip(raw.headerSize - 20) }
        guard reader.skip(12), let used = reader.uint32() else { return false }
        raw.colorsUsed = Int(used)
        guard raw.headerSize >= 40 else { return reader.skip(raw.headerSize - 36) }
        return reader.skip(4)
    }

    private mutating func readCompression(_ raw: Raw, _ format: ImageFormat) throws(ImageError) {
        let depths: [Int]
        switch (raw.compression, raw.isOS2) {
        case (0, _): depths = [1, 2, 4, 8, 16, 24, 32]
        case (1, _):
            depths = [8]
            compression = .runLength8
        case (2, _):
            depths = [4]
            compression = .runLength4
        case (3, false), (6, false): depths = [16, 32]
        case (4, true):
            depths = [24]
            compression = .runLength24
        default: throw .decoding(.unsupportedFeature(format: format, feature: "compression \(raw.compression)"))
        }
        guard depths.contains(bitsPerPixel) else {
            throw .decoding(
                .unsupportedFeature(
                    format: format, feature: "\(bitsPerPixel) bits per pixel with compression \(raw.compression)"))
        }
    }

    /// Reads the masks. They're part of the header from version 2 on, or they follow a 40-byte header that specifies
    /// bit fields.
    private mutating func readMasks(
        _ reader: inout ByteReader, _ raw: Raw, start: Int, _ format: ImageFormat
    ) throws(ImageError) {
        let saysMasks = !raw.isOS2 && (raw.compression == 3 || raw.compression == 6)
        let inHeader = !raw.isOS2 && raw.headerSize >= 52
        if bitsPerPixel == 16 {
            masks = Masks(red: 0x7C00, green: 0x03E0, blue: 0x001F, alpha: 0)
        } else if bitsPerPixel >= 24 {
            masks = Masks(red: 0xFF0000, green: 0xFF00, blue: 0xFF, alpha: 0)
        }
        if saysMasks || inHeader {
            guard let red = reader.uint32(), let green = reader.uint32(), let blue = reader.uint32() else {
                throw Self.truncated(reader, format)
            }
            let hasAlpha = inHeader ? raw.headerSize >= 56 : raw.compression == 6
            let alpha = hasAlpha ? reader.uint32() : 0
            guard let alpha else { throw Self.truncated(reader, format) }
            if saysMasks {
                masks = Masks(red: red, green: green, blue: blue, alpha: alpha)
                hasStatedAlpha = alpha != 0
            } else if raw.headerSize >= 108, bitsPerPixel == 32 {
                // Without bit fields, the fourth byte is unused unless a version 4 header specifies a mask for it.
                masks.alpha = alpha & ~0xFF_FFFF
            }
        }
        let behind = start + raw.headerSize - reader.offset
        guard behind <= 0 || reader.skip(behind) else { throw Self.truncated(reader, format) }
    }

    private mutating func readPalette(_ reader: inout ByteReader, _ raw: Raw, maxEntries: Int) {
        guard bitsPerPixel <= 8 else {
            // Images without a palette may contain a color table for displays with few colors.
            _ = reader.skip(min(maxEntries, raw.colorsUsed) * 4)
            return
        }
        let full = 1 << bitsPerPixel
        let stated = raw.colorsUsed == 0 ? full : raw.colorsUsed
        let entries = min(stated, 256, maxEntries)
        for _ in 0..<entries {
            guard let blue = reader.byte(), let green = reader.byte(), let red = reader.byte() else { return }
            if raw.headerSize != 12 { _ = reader.byte() }
            palette.append(Self.opaque(red, green, blue))
        }
    }

    /// Returns a color as R, G, B, 255 in memory order.
    static func opaque(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt32 {
        UInt32(littleEndian: UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000)
    }

    private static func truncated(_ reader: ByteReader, _ format: ImageFormat) -> ImageError {
        .decoding(.truncated(format: format, receivedBytes: reader.offset + reader.remaining, expectedBytes: nil))
    }
}
