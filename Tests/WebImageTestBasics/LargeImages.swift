// SPDX-License-Identifier: MIT

import Foundation

/// Large images of a single color, which tests build without encoding their pixels.
public enum LargeImages {
    /// Returns a baseline JPEG file with one component, whose pixels all have the value 128.
    ///
    /// - Parameters:
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    ///   - isProgressive: Whether the header declares a progressive file. Such a file can't be decoded.
    public static func jpeg(width: Int, height: Int, isProgressive: Bool = false) -> Data {
        func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
            [0xFF, marker] + big(body.count + 2, 2) + body
        }
        // The only code has one bit. It means a difference of zero, or the end of the block.
        let codes: [UInt8] = [1] + [UInt8](repeating: 0, count: 15) + [0]
        var file: [UInt8] = [0xFF, 0xD8]
        file += segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
        file += segment(isProgressive ? 0xC2 : 0xC0, [8] + big(height, 2) + big(width, 2) + [1, 1, 0x11, 0])
        file += segment(0xC4, [0x00] + codes) + segment(0xC4, [0x10] + codes)
        file += segment(0xDA, [1, 1, 0, 0, isProgressive ? 0 : 63, 0])
        // Each block has two codes, whose bits are zero.
        let blocks = ((width + 7) / 8) * ((height + 7) / 8)
        file += [UInt8](repeating: 0, count: (blocks * 2 + 7) / 8)
        return Data(file + [0xFF, 0xD9])
    }

    /// Returns a black PNG file with one bit per pixel.
    public static func png(width: Int, height: Int) -> Data {
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file += chunk("IHDR", big(width, 4) + big(height, 4) + [1, 0, 0, 0, 0])
        file += chunk("IDAT", zeros(((width + 7) / 8 + 1) * height))
        return Data(file + chunk("IEND", []))
    }

    /// Returns a zlib stream (RFC 1950 and 1951) of `count` zeros, at least one, with the fixed Huffman codes.
    private static func zeros(_ count: Int) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var (bits, width) = (0, 0)
        /// Appends bits, of which the first is the most significant one.
        func append(_ code: Int, _ length: Int) {
            for place in (0..<length).reversed() {
                bits |= (code >> place & 1) << width
                width += 1
                guard width == 8 else { continue }
                stream.append(UInt8(bits))
                (bits, width) = (0, 0)
            }
        }
        // The last block, with fixed codes.
        append(0b110, 3)
        append(0b0011_0000, 8)
        // A copy of 258 bytes at the distance 1.
        for _ in 0..<((count - 1) / 258) { append(0b1_1000_1010_0000, 13) }
        for _ in 0..<((count - 1) % 258) { append(0b0011_0000, 8) }
        append(0, 7)
        if width > 0 { stream.append(UInt8(bits)) }
        // The first sum of Adler-32 stays 1, and the second counts the bytes.
        return stream + big(((count % 65_521) << 16) | 1, 4)
    }

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + body
        return big(body.count, 4) + named + big(Int(checksum(named)), 4)
    }

    /// Returns the CRC of a chunk (PNG Third Edition, annex D).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        let table: [UInt32] = (0..<256).map { number in
            (0..<8).reduce(UInt32(number)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~bytes.reduce(UInt32.max) { $0 >> 8 ^ table[Int(($0 ^ UInt32($1)) & 255)] }
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
