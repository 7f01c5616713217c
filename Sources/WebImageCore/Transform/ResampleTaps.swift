// SPDX-License-Identifier: MIT

import CPixelKernels
import Glibc

/// The source pixels and the weights for each output pixel, in one direction.
struct ResampleTaps {
    private(set) var taps: [wi_tap] = []
    private(set) var weights: [Float] = []

    /// Computes the weights.
    ///
    /// Pixels outside the window are never used, so the surroundings of a crop don't bleed into it. Their weights are
    /// omitted, and the remaining weights are normalized.
    ///
    /// - Parameters:
    ///   - start: The start of the window, in source pixels.
    ///   - length: The length of the window in source pixels, which must be positive.
    ///   - limit: The number of existing source pixels.
    ///   - output: The number of output pixels for the window.
    init(start: Double, length: Double, limit: Int, output: Int, filter: ResamplingFilter) {
        let ratio = length / Double(output)
        let first = max(0, min(limit - 1, Int(start.rounded(.down))))
        let end = max(first + 1, min(limit, Int((start + length - 1e-9).rounded(.up))))
        taps.reserveCapacity(output)
        var row: [Double] = []
        for index in 0..<output {
            row.removeAll(keepingCapacity: true)
            let low: Int
            switch filter {
            case .lanczos3:
                let center = start + (Double(index) + 0.5) * ratio
                low = Self.lanczos(center: center, scale: max(1, ratio), within: first..<end, into: &row)
            case .box:
                let left = start + Double(index) * ratio
                low = Self.area(from: left, to: left + ratio, within: first..<end, into: &row)
            }
            append(row, from: low)
        }
    }

    /// The range from the first to the last source pixel that any output pixel needs.
    var span: Range<Int> {
        let low = taps.map(\.first).min() ?? 0
        let high = taps.map { $0.first + $0.count }.max() ?? 0
        return Int(low)..<Int(high)
    }

    /// Makes the positions of all taps relative to `origin`.
    mutating func rebase(to origin: Int) {
        for index in taps.indices { taps[index].first -= UInt32(origin) }
    }

    private mutating func append(_ row: [Double], from low: Int) {
        // Drop the weights that are zero except for rounding errors, because they only cost time.
        let negligible = 1e-9
        let sum = row.reduce(0, +)
        let head = row.firstIndex { abs($0) > negligible } ?? 0
        let tail = row.lastIndex { abs($0) > negligible } ?? 0
        let used = row[head...max(head, tail)]
        taps.append(
            wi_tap(first: UInt32(low + head), count: UInt32(used.count), weight: UInt32(weights.count)))
        weights.append(contentsOf: used.map { Float($0 / sum) })
    }

    /// Appends the weights of Lanczos-3: `sinc(x) · sinc(x/3)` for |x| < 3, stretched by `scale`.
    ///
    /// With θ = πx/3, the weight is sin²θ · (3 − 4 sin²θ) / 3θ². Because θ increases by the same step from pixel to
    /// pixel, the angle addition formulas replace the calculation of sines.
    private static func lanczos(
        center: Double, scale: Double, within range: Range<Int>, into row: inout [Double]
    ) -> Int {
        let low = min(max(range.lowerBound, Int((center - 3 * scale).rounded(.down))), range.upperBound - 1)
        let high = max(low + 1, min(range.upperBound, Int((center + 3 * scale).rounded(.up))))
        let step = Double.pi / (3 * scale)
        var angle = (Double(low) + 0.5 - center) * step
        var sine = sin(angle)
        var cosine = cos(angle)
        let (stepSine, stepCosine) = (sin(step), cos(step))
        for _ in low..<high {
            let square = sine * sine
            if abs(angle) >= .pi {
                row.append(0)
            } else {
                row.append(abs(angle) < 1e-6 ? 1 : square * (3 - 4 * square) / (3 * angle * angle))
            }
            (sine, cosine) = (sine * stepCosine + cosine * stepSine, cosine * stepCosine - sine * stepSine)
            angle += step
        }
        return low
    }

    /// Appends the covered fraction of each pixel between two edges.
    private static func area(
        from left: Double, to right: Double, within range: Range<Int>, into row: inout [Double]
    ) -> Int {
        let low = min(max(range.lowerBound, Int(left.rounded(.down))), range.upperBound - 1)
        let high = max(low + 1, min(range.upperBound, Int((right - 1e-9).rounded(.up))))
        for pixel in low..<high {
            row.append(max(1e-12, min(right, Double(pixel + 1)) - max(left, Double(pixel))))
        }
        return low
    }
}
