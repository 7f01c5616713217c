// SPDX-License-Identifier: MIT

import WebImageCore

/// The format of raw pixels that `decode` writes.
package enum RawPixelFormat: String, Sendable, CaseIterable {
    /// R, G, B, A with 8 bits each and premultiplied alpha.
    case rgba8
    /// R, G, B, A with 16 bits each in the byte order of the machine and premultiplied alpha.
    case rgba16
    /// R, G, B with 8 bits each. Transparent pixels are black.
    case rgb8

    /// Returns the pixels without padding between rows.
    package func bytes(of pixels: PixelBuffer) -> [UInt8] {
        let packed = pixels.packedBytes()
        switch (self, pixels.format) {
        case (.rgba8, .rgba8), (.rgba16, .rgba16): return packed
        // Both bytes of the wider sample equal the narrow one, in either byte order.
        case (.rgba16, .rgba8): return Self.wide(packed)
        case (.rgba8, .rgba16): return Self.narrow(packed)
        case (.rgb8, .rgba8): return Self.opaque(packed)
        case (.rgb8, .rgba16): return Self.opaque(Self.narrow(packed))
        }
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
