// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The format of raw pixels that `decode` writes.
package enum RawPixelFormat: String, Sendable, CaseIterable {
    /// R, G, B, A with 8 bits each and premultiplied alpha.
    case rgba8
    /// R, G, B, A with 16 bits each in the byte order of the machine and premultiplied alpha.
    case rgba16
    /// R, G, B with 8 bits each. Transparent pixels are black.
    case rgb8

    /// Returns the pixels without padding between rows, in parts of about 1 MiB that are created when they're needed.
    package func parts(of pixels: PixelBuffer) -> some Sequence<Data> {
        let step = max((1 << 20) / max(pixels.width * pixels.format.bytesPerPixel, 1), 1)
        return stride(from: 0, to: pixels.height, by: step).lazy.map { row in
            Data(bytes(of: pixels, rows: row..<min(row + step, pixels.height)))
        }
    }

    /// Returns the number of bytes in ``parts(of:)``.
    package func byteCount(of pixels: PixelBuffer) -> Int {
        let bytesPerPixel =
            switch self {
            case .rgba8: 4
            case .rgba16: 8
            case .rgb8: 3
            }
        return pixels.width * pixels.height * bytesPerPixel
    }

    private func bytes(of pixels: PixelBuffer, rows: Range<Int>) -> [UInt8] {
        let packed = pixels.packedBytes(ofRows: rows)
        let isWide = pixels.format.layout.isWide
        // Both bytes of the wider sample equal the narrow one, in either byte order.
        if self == .rgba16 { return isWide ? packed : Self.wide(packed) }
        let narrow = isWide ? Self.narrow(packed) : packed
        return self == .rgb8 ? Self.opaque(narrow) : narrow
    }

    private static func wide(_ packed: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(packed.count * 2)
        for byte in packed {
            result.append(byte)
            result.append(byte)
        }
        return result
    }

    private static func opaque(_ packed: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(packed.count / 4 * 3)
        for start in stride(from: 0, to: packed.count, by: 4) {
            result.append(packed[start])
            result.append(packed[start + 1])
            result.append(packed[start + 2])
        }
        return result
    }

    private static func narrow(_ packed: [UInt8]) -> [UInt8] {
        let high = UInt16(1).littleEndian == 1 ? 1 : 0
        return stride(from: high, to: packed.count, by: 2).map { packed[$0] }
    }
}
