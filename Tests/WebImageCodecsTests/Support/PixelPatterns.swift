// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

/// A pseudorandom number generator (SplitMix64) that produces the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

enum PixelPatterns {
    /// Returns smooth waves with an edge as soft as that of a lens.
    static func photo(width: Int, height: Int, hasAlpha: Bool = false) throws -> PixelBuffer {
        try make(width: width, height: height, isOpaque: !hasAlpha) { x, y in
            let u = Double(x) / Double(width)
            let v = Double(y) / Double(height)
            let wave = sin(u * 21) * cos(v * 17)
            let distance = (u - 0.55) * (u - 0.55) + (v - 0.4) * (v - 0.4)
            let inside = min(1, max(0, (0.06 - distance) / 0.03))
            let alpha = hasAlpha ? 0.5 + 0.5 * sin(u * 9 + v * 5) : 1
            let red = 0.8 * inside + (1 - inside) * (0.5 + 0.3 * wave)
            let green = 0.2 + 0.6 * v
            let blue = 0.2 * inside + (1 - inside) * (0.5 + 0.4 * cos(u * 20 * v))
            return SIMD4<UInt8>(SIMD4(red, green, blue, 1) * (alpha * 255), rounding: .toNearestOrAwayFromZero)
        }
    }

    /// Returns every alpha with every color value up to the alpha, as premultiplied pixels.
    static func everyPremultipliedValue() throws -> PixelBuffer {
        try make(width: 256, height: 256, isOpaque: false) { colour, alpha in
            let value = UInt8(min(colour, alpha))
            return SIMD4(value, value, value, UInt8(alpha))
        }
    }

    static func make(
        width: Int, height: Int, isOpaque: Bool, _ pixel: (Int, Int) -> SIMD4<UInt8>
    ) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    bytes.storeBytes(
                        of: pixel(x, y), toByteOffset: y * canvas.bytesPerRow + x * 4, as: SIMD4<UInt8>.self)
                }
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }

    static func encode(_ pixels: PixelBuffer, as encoding: ImageEncoding) throws -> Data {
        try coder(for: encoding.formatOrAutomatic).encode(
            DecodedImage(pixels: pixels), as: encoding,
            context: ImageProcessingContext())
    }
}
