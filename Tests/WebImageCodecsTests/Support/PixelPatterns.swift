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
        // In debug builds, the operator `>>` calls generic functions.
        z = (z ^ (z &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z &>> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z &>> 31)
    }
}

enum PixelPatterns {
    /// An image that several tests use.
    struct Pattern: Hashable, Sendable {
        var name: String
        var width: Int
        var height: Int
        var variant: UInt64 = 0
    }

    /// The images that several tests use. In debug builds, the larger ones take up to a second.
    static let patterns = SharedValues<Pattern, PixelBuffer>()

    /// Returns smooth waves with an edge as soft as that of a lens.
    static func photo(width: Int, height: Int, hasAlpha: Bool = false) throws -> PixelBuffer {
        let pattern = Pattern(name: "photo", width: width, height: height, variant: hasAlpha ? 1 : 0)
        return try patterns.value(for: pattern) {
            try make(width: width, height: height, isOpaque: !hasAlpha) { x, y in
                let u = Double(x) / Double(width)
                let v = Double(y) / Double(height)
                let wave = sin(u * 21) * cos(v * 17)
                let distance = (u - 0.55) * (u - 0.55) + (v - 0.4) * (v - 0.4)
                let depth = (0.06 - distance) / 0.03
                let inside = depth < 0 ? 0 : depth > 1 ? 1 : depth
                let alpha = hasAlpha ? 0.5 + 0.5 * sin(u * 9 + v * 5) : 1
                let red = 0.8 * inside + (1 - inside) * (0.5 + 0.3 * wave)
                let green = 0.2 + 0.6 * v
                let blue = 0.2 * inside + (1 - inside) * (0.5 + 0.4 * cos(u * 20 * v))
                let scale = alpha * 255
                return SIMD4(byte(red * scale), byte(green * scale), byte(blue * scale), byte(scale))
            }
        }
    }

    /// Returns a sample from 0 to 255 as an integer. In debug builds, the conversion of a vector is much slower.
    private static func byte(_ sample: Double) -> UInt8 { UInt8(sample.rounded(.toNearestOrAwayFromZero)) }

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
            guard let start = bytes.baseAddress else { return }
            for y in 0..<height {
                let row = (start + y * canvas.bytesPerRow).assumingMemoryBound(to: SIMD4<UInt8>.self)
                var x = 0
                while x < width {
                    row[x] = pixel(x, y)
                    x += 1
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
