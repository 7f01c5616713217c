// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// Generated images that compress about as well as photographs. They contain smooth shapes of all sizes, fine detail,
/// and grain.
enum Photograph {
    /// Returns an image of `width` × `height` pixels that depends on `seed`. If `hasAlpha` is `true`, the image fades
    /// toward its edges.
    static func make(_ width: Int, _ height: Int, seed: UInt64 = 1, hasAlpha: Bool = false) throws -> DecodedImage {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height), cleared: true)
        let stride = canvas.bytesPerRow
        var random = SplitMix(seed: seed)
        let octaves = (0..<6).map { Octave(cells: 4 << $0, strength: 70 / Float(1 << $0), random: &random) }
        canvas.withUnsafeMutableBytes { bytes in
            var rows = [Float](repeating: 0, count: width * 3)
            for y in 0..<height {
                for index in rows.indices { rows[index] = 120 }
                for octave in octaves { octave.add(to: &rows, y: Float(y) / Float(height), width: width) }
                var grain = SplitMix(seed: seed &* 31 &+ UInt64(y))
                for x in 0..<width {
                    let noise = grain.next()
                    // Add two random numbers, so that most grain is faint. Use the same grain for all channels, which
                    // is similar to a camera sensor.
                    let speck = (Float(noise & 31) + Float((noise >> 5) & 31) - 31) * 0.5
                    let alpha = hasAlpha ? Float(min(x, width - x, y, height - y) * 4).clamped(to: 0...255) : 255
                    for channel in 0..<3 {
                        let value = (rows[x * 3 + channel] + speck).clamped(to: 0...255) * alpha / 255
                        bytes[y * stride + x * 4 + channel] = UInt8(value)
                    }
                    bytes[y * stride + x * 4 + 3] = UInt8(alpha)
                }
            }
        }
        return DecodedImage(pixels: canvas.finish(isOpaque: !hasAlpha))
    }

    /// Returns a generated image, encoded by the coders of this package.
    static func encoded(
        _ width: Int, _ height: Int, as encoding: ImageEncoding, seed: UInt64 = 1, hasAlpha: Bool = false
    ) throws -> Data {
        let picture = try make(width, height, seed: seed, hasAlpha: hasAlpha)
        return try ImageCoderRegistry.standard.encode(
            picture, as: encoding,
            context: ImageProcessingContext(limits: roomy))
    }

    /// The limits for decoding, which no benchmark reaches.
    static var roomy: ImageLimits {
        var limits = ImageLimits.desktop
        limits.maxDecodingTime = ImageLimits.unlimited.maxDecodingTime
        return limits
    }

    /// Random values on a grid, with linear interpolation.
    private struct Octave {
        let cells: Int
        let values: [Float]

        init(cells: Int, strength: Float, random: inout SplitMix) {
            self.cells = cells
            values = (0..<((cells + 2) * (cells + 2) * 3)).map { _ in (Float(random.unit()) * 2 - 1) * strength }
        }

        func add(to row: inout [Float], y: Float, width: Int) {
            let position = y * Float(cells)
            let (line, part) = (Int(position), position - Float(Int(position)))
            for x in 0..<width {
                let across = Float(x) / Float(width) * Float(cells)
                let (cell, rest) = (Int(across), across - Float(Int(across)))
                let upper = (line * (cells + 2) + cell) * 3
                let lower = upper + (cells + 2) * 3
                for channel in 0..<3 {
                    let top = values[upper + channel] * (1 - rest) + values[upper + 3 + channel] * rest
                    let bottom = values[lower + channel] * (1 - rest) + values[lower + 3 + channel] * rest
                    row[x * 3 + channel] += top * (1 - part) + bottom * part
                }
            }
        }
    }
}

extension Float {
    fileprivate func clamped(to range: ClosedRange<Float>) -> Float {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
