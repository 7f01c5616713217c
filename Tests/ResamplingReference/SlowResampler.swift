// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A reference implementation of resampling for `Resampler`: the definition in two dimensions at the same time, in
/// double precision and without optimizations.
package enum SlowResampler {
    /// Returns the samples of the result.
    package static func resample(
        _ pixels: PixelBuffer, window: SampleRect, to output: PixelSize, filter: ResamplingFilter
    ) -> [Int] {
        let columns = (0..<output.width).map {
            weights($0, window.x, window.width, pixels.width, output.width, filter.kernel)
        }
        let rows = (0..<output.height).map {
            weights($0, window.y, window.height, pixels.height, output.height, filter.kernel)
        }
        let maximum = pixels.format == .rgba16 ? 65_535.0 : 255
        let shrinks = Double(output.width) < window.width || Double(output.height) < window.height
        let grows = Double(output.width) > window.width || Double(output.height) > window.height
        let isLinear = filter.light == .linear && (shrinks || !grows)
        let samples = self.samples(pixels)
        let source = stride(from: 0, to: samples.count, by: 4).flatMap { index -> [Double] in
            let alpha = Double(samples[index + 3]) / maximum
            let colors = samples[index..<index + 3].map { Double($0) / maximum }
            guard isLinear, alpha > 0 else { return colors + [alpha] }
            return colors.map { decoded(min(1, $0 / alpha)) * alpha } + [alpha]
        }
        var result: [Int] = []
        for row in rows {
            for column in columns {
                var sums = [0.0, 0, 0, 0]
                for (y, down) in row {
                    for (x, across) in column {
                        for channel in 0..<4 {
                            sums[channel] += down * across * source[(y * pixels.width + x) * 4 + channel]
                        }
                    }
                }
                let alpha = min(1, max(0, sums[3]))
                for sum in sums[0..<3] {
                    let color = isLinear && sums[3] > 0 ? encoded(min(1, max(0, sum / sums[3]))) * alpha : sum
                    result.append(Int((min(alpha, max(0, color)) * maximum).rounded()))
                }
                result.append(Int((alpha * maximum).rounded()))
            }
        }
        return result
    }

    /// Returns the samples of an image without padding.
    package static func samples(_ pixels: PixelBuffer) -> [Int] {
        let bytes = pixels.packedBytes()
        guard pixels.format == .rgba16 else { return bytes.map(Int.init) }
        return stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
    }

    /// Returns the light of an sRGB value.
    package static func decoded(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// Returns the sRGB value of light.
    package static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    private static func weights(
        _ index: Int, _ start: Double, _ length: Double, _ limit: Int, _ output: Int, _ kernel: ResamplingFilter.Kernel
    ) -> [(Int, Double)] {
        let ratio = length / Double(output)
        let left = start + Double(index) * ratio
        let inside = max(0, Int(start.rounded(.down)))..<min(limit, Int((start + length - 1e-9).rounded(.up)))
        if kernel == .nearest {
            let center = start + (Double(index) + 0.5) * ratio
            return [(max(inside.lowerBound, min(inside.upperBound - 1, Int(center.rounded(.down)))), 1)]
        }
        let raw = inside.map { pixel -> (Int, Double) in
            let x = abs((Double(pixel) + 0.5 - left - ratio / 2) / max(1, ratio))
            return switch kernel {
            case .nearest, .box:
                (pixel, max(0, min(left + ratio, Double(pixel + 1)) - max(left, Double(pixel))))
            case .bilinear: (pixel, max(0, 1 - x))
            // The formulas of Keys (1981) and of Mitchell and Netravali (1988) with their parameters inserted.
            case .catmullRom:
                (pixel, x < 1 ? 1.5 * x * x * x - 2.5 * x * x + 1 : x < 2 ? ((2.5 - 0.5 * x) * x - 4) * x + 2 : 0)
            case .mitchell:
                (
                    pixel,
                    x < 1
                        ? (7 * x * x * x - 12 * x * x) / 6 + 8.0 / 9
                        : x < 2 ? (-7 * x * x * x + 36 * x * x - 60 * x) / 18 + 16.0 / 9 : 0
                )
            case .lanczos3: (pixel, x >= 3 ? 0 : sinc(x) * sinc(x / 3))
            }
        }
        let sum = raw.reduce(0) { $0 + $1.1 }
        return raw.filter { $0.1 != 0 }.map { ($0.0, $0.1 / sum) }
    }

    private static func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
}
