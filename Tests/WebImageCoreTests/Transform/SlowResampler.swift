// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A reference implementation of resampling for `Resampler`: the definition in two dimensions at the same time, in
/// double precision and without optimizations.
enum SlowResampler {
    static func resample(
        _ pixels: PixelBuffer, window: SampleRect, to output: PixelSize, filter: ResamplingFilter
    ) -> [UInt8] {
        let columns = (0..<output.width).map {
            weights($0, window.x, window.width, pixels.width, output.width, filter)
        }
        let rows = (0..<output.height).map {
            weights($0, window.y, window.height, pixels.height, output.height, filter)
        }
        let source = pixels.packedBytes()
        var result: [UInt8] = []
        for row in rows {
            for column in columns {
                var sums = [0.0, 0, 0, 0]
                for (y, down) in row {
                    for (x, across) in column {
                        for channel in 0..<4 {
                            sums[channel] += down * across * Double(source[(y * pixels.width + x) * 4 + channel])
                        }
                    }
                }
                let alpha = min(255, max(0, (sums[3]).rounded()))
                result += sums[0..<3].map { UInt8(min(alpha, max(0, $0.rounded()))) } + [UInt8(alpha)]
            }
        }
        return result
    }

    private static func weights(
        _ index: Int, _ start: Double, _ length: Double, _ limit: Int, _ output: Int, _ filter: ResamplingFilter
    ) -> [(Int, Double)] {
        let ratio = length / Double(output)
        let left = start + Double(index) * ratio
        let inside = max(0, Int(start.rounded(.down)))..<min(limit, Int((start + length - 1e-9).rounded(.up)))
        let raw = inside.map { pixel -> (Int, Double) in
            switch filter {
            case .box:
                return (pixel, max(0, min(left + ratio, Double(pixel + 1)) - max(left, Double(pixel))))
            case .lanczos3:
                let x = (Double(pixel) + 0.5 - left - ratio / 2) / max(1, ratio)
                return (pixel, abs(x) >= 3 ? 0 : sinc(x) * sinc(x / 3))
            }
        }
        let sum = raw.reduce(0) { $0 + $1.1 }
        return raw.filter { $0.1 != 0 }.map { ($0.0, $0.1 / sum) }
    }

    private static func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
}
