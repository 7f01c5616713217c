// SPDX-License-Identifier: MIT

import Foundation

/// A check for files that can be used unchanged if the metadata must be stripped.
package enum MetadataFreeFile {
    /// Returns whether `data` contains only pixels, colors, and timing. If this can't be determined, the result is
    /// `false`.
    package static func hasNoMetadata(_ data: Data, _ format: ImageFormat) -> Bool {
        if format == .jpeg { return JPEGFile.hasNoMetadata(data) }
        return data.withUnsafeBytes { raw in
            let bytes = HeaderBytes(raw, isComplete: true)
            do throws(HeaderParsingError) {
                switch format {
                case .png, .apng: return try isPlainPNG(bytes)
                case .webp: return try isPlainWebP(bytes)
                case .gif: return try isPlainGIF(bytes)
                case .bmp: return true
                default: return false
                }
            } catch {
                return false
            }
        }
    }

    private static let pngChunks: Set<FourCC> = [
        "IHDR", "PLTE", "tRNS", "IDAT", "acTL", "fcTL", "fdAT", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "bKGD",
        "pHYs", "hIST",
    ]

    private static func isPlainPNG(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        var offset = 8
        for _ in 0..<HeaderBounds.pngChunks {
            let name = try FourCC(bytes, at: offset + 4)
            offset += 12 + (try bytes.big32(at: offset))
            if name == "IEND" { return offset == bytes.available }
            guard pngChunks.contains(name) else { return false }
        }
        return false
    }

    private static let webpChunks: Set<FourCC> = ["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]

    private static func isPlainWebP(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        var offset = 12
        while offset < bytes.available {
            guard webpChunks.contains(try FourCC(bytes, at: offset)) else { return false }
            let count = try bytes.little32(at: offset + 4)
            offset += 8 + count + count & 1
        }
        return offset == bytes.available
    }

    /// Returns whether a GIF has no comments, no plain text, and no application extensions except loop counts (GIF89a,
    /// sections 17 to 27).
    private static func isPlainGIF(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        var offset = 13 + table(try bytes.byte(at: 10))
        while true {
            switch try bytes.byte(at: offset) {
            case 0x3B: return offset + 1 == bytes.available
            case 0x2C: offset += 11 + table(try bytes.byte(at: offset + 9))
            case 0x21:
                let isLoop = try bytes.has(anyOf: ["NETSCAPE2.0", "ANIMEXTS1.0"], at: offset + 3)
                let label = try bytes.byte(at: offset + 1)
                guard label == 0xF9 || (label == 0xFF && isLoop) else { return false }
                offset += 2
            default: return false
            }
            while true {
                let count = Int(try bytes.byte(at: offset))
                offset += 1 + count
                if count == 0 { break }
            }
        }
    }
}
