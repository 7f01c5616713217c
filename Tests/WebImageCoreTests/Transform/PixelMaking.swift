// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A pseudorandom number generator (SplitMix64) that produces the same numbers in every run.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

enum PixelMaking {
    /// Returns an image from a function of the position. The values are stored unchanged.
    static func buffer(
        _ width: Int, _ height: Int, isOpaque: Bool, _ pixel: (Int, Int) -> [UInt8]
    ) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                var offset = y * canvas.bytesPerRow
                for x in 0..<width {
                    let samples = pixel(x, y)
                    for channel in 0..<4 { bytes[offset + channel] = samples[channel] }
                    offset += 4
                }
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }

    /// Returns random premultiplied pixels, which are the hardest input for a filter.
    static func noise(_ width: Int, _ height: Int, opaque: Bool, seed: UInt64 = 1) throws -> PixelBuffer {
        var numbers = SeededNumbers(seed)
        return try buffer(width, height, isOpaque: opaque) { _, _ in
            let alpha: UInt8 = opaque ? 255 : .random(in: 0...255, using: &numbers)
            return (0..<3).map { _ in .random(in: 0...alpha, using: &numbers) } + [alpha]
        }
    }

    /// Returns smooth waves with some fine detail, similar to a photograph.
    static func waves(_ width: Int, _ height: Int) throws -> PixelBuffer {
        try buffer(width, height, isOpaque: true) { x, y in
            let (u, v) = (Double(x), Double(y))
            let red = 128 + 90 * sin(u / 11) * cos(v / 17) + 25 * sin(u * 0.9 + v * 0.4)
            let green = 128 + 100 * sin((u + v) / 23) + 20 * cos(v * 1.1)
            let blue = 128 + 110 * cos(hypot(u - 40, v - 30) / 9)
            return [red, green, blue].map { UInt8(max(0, min(255, $0))) } + [255]
        }
    }

    /// Returns the peak signal-to-noise ratio of all samples in decibels, or infinity for equal images.
    static func psnr(_ a: [UInt8], _ b: [UInt8]) -> Double {
        let squares = zip(a, b).reduce(0.0) { sum, pair in
            let difference = Double(pair.0) - Double(pair.1)
            return sum + difference * difference
        }
        return 10 * log10(255 * 255 * Double(a.count) / squares)
    }
}

extension PixelMaking {
    /// Returns the same image with 16 bits per sample.
    static func deep(_ pixels: PixelBuffer) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: pixels.size, format: .rgba16)
        let bytes = pixels.packedBytes()
        canvas.withUnsafeMutableBytes { target in
            for y in 0..<pixels.height {
                for sample in 0..<pixels.width * 4 {
                    target.storeBytes(
                        of: UInt16(bytes[y * pixels.width * 4 + sample]) * 257,
                        toByteOffset: y * canvas.bytesPerRow + sample * 2, as: UInt16.self)
                }
            }
        }
        return canvas.finish(isOpaque: pixels.isOpaque)
    }

    /// Returns the samples of an image at its own depth, in rows without padding. The values are in the range 0 to 1.
    static func samples(_ pixels: PixelBuffer) -> [Double] {
        let bytes = pixels.packedBytes()
        guard pixels.format == .rgba16 else { return bytes.map { Double($0) / 255 } }
        return stride(from: 0, to: bytes.count, by: 2).map { place in
            Double(UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8) / 65_535
        }
    }
}
