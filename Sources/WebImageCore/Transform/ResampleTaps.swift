// SPDX-License-Identifier: MIT

import CPixelKernels
import Glibc

/// The source pixels and the weights for each output pixel, in one direction.
///
/// The first source pixel of an output pixel is never before that of the previous output pixel, and neither is the last.
/// Therefore, a resampler that receives rows in bands can stop at the first output row that begins below a band.
struct ResampleTaps {
    private(set) var taps: [wi_tap] = []
    private(set) var weights: [Float] = []

    /// Pixels outside the window are never used, so the surroundings of a crop don't bleed into it. Their weights are
    /// omitted, and the remaining weights are normalized. The window is in source pixels, and its length must be
    /// positive. `limit` is the number of existing source pixels, and `output` is the number of output pixels for the
    /// window.
    init(start: Double, length: Double, limit: Int, output: Int, kernel: ResamplingFilter.Kernel) {
        let ratio = length / Double(output)
        let first = max(0, min(limit - 1, Int(start.rounded(.down))))
        let end = max(first + 1, min(limit, Int((start + length - 1e-9).rounded(.up))))
        taps.reserveCapacity(output)
        var row: [Double] = []
        for index in 0..<output {
            row.removeAll(keepingCapacity: true)
            let center = start + (Double(index) + 0.5) * ratio
            let low: Int
            switch kernel {
            case .nearest:
                low = max(first, min(end - 1, Int(center.rounded(.down))))
                row.append(1)
            case .box:
                let left = start + Double(index) * ratio
                low = Self.area(from: left, to: left + ratio, within: first..<end, into: &row)
            case .bilinear, .catmullRom, .mitchell:
                low = Self.polynomial(kernel, center: center, scale: max(1, ratio), within: first..<end, into: &row)
            case .lanczos3:
                low = Self.lanczos(center: center, scale: max(1, ratio), within: first..<end, into: &row)
            }
            append(row, from: low)
        }
        if !isInOrder { putInOrder() }
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

    private var isInOrder: Bool {
        zip(taps, taps.dropFirst()).allSatisfy { $0.first <= $1.first && $0.first + $0.count <= $1.first + $1.count }
    }

    /// Adds zero weights so that the first and the last source pixels are in order.
    ///
    /// A kernel is zero at some points between its center and its ends. If all surrounding pixels of an output pixel lie
    /// on such points, ``append(_:from:)`` drops more weights than for the neighboring output pixels.
    private mutating func putInOrder() {
        var firsts = taps.map(\.first)
        var ends = taps.map { $0.first + $0.count }
        for index in taps.indices.dropLast().reversed() { firsts[index] = min(firsts[index], firsts[index + 1]) }
        for index in taps.indices.dropFirst() { ends[index] = max(ends[index], ends[index - 1]) }
        var padded: [Float] = []
        for (index, tap) in taps.enumerated() {
            taps[index] = wi_tap(
                first: firsts[index], count: ends[index] - firsts[index], weight: UInt32(padded.count))
            padded.append(contentsOf: repeatElement(0, count: Int(tap.first - firsts[index])))
            padded.append(contentsOf: weights[Int(tap.weight)..<Int(tap.weight + tap.count)])
            padded.append(contentsOf: repeatElement(0, count: Int(ends[index] - tap.first - tap.count)))
        }
        weights = padded
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

    /// Appends the weights of a kernel that consists of polynomials, stretched by `scale`.
    private static func polynomial(
        _ kernel: ResamplingFilter.Kernel, center: Double, scale: Double, within range: Range<Int>,
        into row: inout [Double]
    ) -> Int {
        let reach = (kernel == .bilinear ? 1 : 2) * scale
        let low = min(max(range.lowerBound, Int((center - reach).rounded(.down))), range.upperBound - 1)
        let high = max(low + 1, min(range.upperBound, Int((center + reach).rounded(.up))))
        for pixel in low..<high {
            let x = abs(Double(pixel) + 0.5 - center) / scale
            switch kernel {
            case .bilinear: row.append(max(0, 1 - x))
            case .mitchell: row.append(cubic(x, b: 1.0 / 3, c: 1.0 / 3))
            default: row.append(cubic(x, b: 0, c: 0.5))
            }
        }
        // A window narrower than a pixel can end before the kernel reaches the center of a pixel.
        if row.allSatisfy({ $0 == 0 }) { row[0] = 1 }
        return low
    }

    /// Returns a value of the family of cubic kernels by Mitchell and Netravali (1988).
    private static func cubic(_ x: Double, b: Double, c: Double) -> Double {
        if x < 1 { return ((12 - 9 * b - 6 * c) * x * x * x + (12 * b + 6 * c - 18) * x * x + 6 - 2 * b) / 6 }
        guard x < 2 else { return 0 }
        return ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x + 8 * b + 24 * c) / 6
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
