// SPDX-License-Identifier: MIT

import CPixelKernels

/// A pass over the rows of a source that reduces them in linear light.
///
/// The pass receives the rows from top to bottom. It converts a few rows to light, adds them to the sums of the output
/// rows to which they contribute, and discards them. Therefore, it needs memory for a few rows regardless of the size of
/// the source and of the reduction, and no copy of the source with more bits exists.
struct LightPass {
    private let vertical: LightWeights
    private let rows: ResampleTaps
    private let columns: LightColumns
    private let format: PixelFormat
    private let isOpaque: Bool
    private let tables: LightTables
    /// Whether light is a 15-bit integer instead of a floating-point number.
    private let usesPairs: Bool
    /// The number of samples of a row of light, and that number with padding.
    private let samples: Int
    private let stride: Int
    /// The light of the current source rows, in pairs of rows for integers and in single rows for floating-point numbers.
    private var pairs: [UInt32] = []
    private var light: [Float] = []
    /// The sums of the output rows from `finished` on. The array of a row without a sum is empty.
    private var sums: [[Float]] = []
    /// Arrays for reuse.
    private var spare: [[Float]] = []
    /// The weights of the pairs of a band, which exist once because each band is added to several rows.
    private var weights = [UInt32](repeating: 0, count: LightPass.bandRows / 2)
    /// The number of finished output rows.
    private(set) var finished = 0

    /// The number of source rows that are added at the same time. It's even. A larger number needs fewer accesses to the
    /// sums, but the light of the rows must fit into the cache.
    static let bandRows = 16
    /// The number of samples between two checkpoints, which take about a millisecond.
    private static let samplesPerCheckpoint = 8_000_000

    /// If all source pixels are opaque, the pass omits alpha. See ``LightTables/of(_:isOpaque:)`` for the tables.
    init(
        vertical: ResampleTaps, horizontal: ResampleTaps, format: PixelFormat, isOpaque: Bool, tables: LightTables
    ) {
        rows = vertical
        self.vertical = LightWeights(vertical)
        columns = LightColumns(horizontal)
        self.format = format
        self.isOpaque = isOpaque
        self.tables = tables
        usesPairs = !format.layout.isWide && tables.hasIntegers
        samples = columns.span.count * (isOpaque ? 3 : 4)
        let lanes = Int(WI_LIGHT_LANES)
        stride = (samples + lanes - 1) / lanes * lanes
        if usesPairs {
            pairs = [UInt32](repeating: 0, count: stride * Self.bandRows / 2)
        } else {
            light = [Float](repeating: 0, count: stride * Self.bandRows)
        }
    }

    /// Reduces a source that's completely in memory. `base` is the address of its first row.
    mutating func run(
        _ base: UnsafeRawPointer, bytesPerRow: Int, into canvas: borrowing PixelCanvas, context: ImageProcessingContext
    ) throws(ImageError) {
        let needed = rows.span
        try add(
            base + needed.lowerBound * bytesPerRow, bytesPerRow: bytesPerRow, band: needed, into: canvas,
            context: context)
    }

    /// Adds the next rows of the source, which begin at `base`.
    mutating func add(
        _ base: UnsafeRawPointer, bytesPerRow: Int, band: Range<Int>, into canvas: borrowing PixelCanvas,
        context: ImageProcessingContext
    ) throws(ImageError) {
        var work = Self.samplesPerCheckpoint
        var first = band.lowerBound
        while first < band.upperBound, finished < rows.taps.count {
            // Skip the rows above the window.
            first = max(first, Int(rows.taps[finished].first))
            guard first < band.upperBound else { return }
            let part = first..<min(first + Self.bandRows, band.upperBound)
            work += part.count * samples
            if work >= Self.samplesPerCheckpoint {
                try context.checkCancellation()
                work = 0
            }
            load(base + (part.lowerBound - band.lowerBound) * bytesPerRow, bytesPerRow: bytesPerRow, count: part.count)
            var row = finished
            while row < rows.taps.count, Int(rows.taps[row].first) < part.upperBound {
                add(part, to: row)
                if Int(rows.taps[row].first + rows.taps[row].count) <= part.upperBound, row == finished {
                    writeNext(into: canvas)
                }
                row += 1
            }
            first = part.upperBound
        }
    }

    /// Writes the unfinished rows of the result. Missing source rows count as transparent.
    mutating func finish(into canvas: borrowing PixelCanvas) {
        while finished < rows.taps.count { writeNext(into: canvas) }
    }

    /// Converts up to ``bandRows`` rows to light.
    private mutating func load(_ base: UnsafeRawPointer, bytesPerRow: Int, count: Int) {
        let base = base + columns.span.lowerBound * format.bytesPerPixel
        let width = columns.span.count
        withUnsafePointer(to: tables.kernel) { tables in
            guard usesPairs else { return loadFloats(base, bytesPerRow: bytesPerRow, count: count, tables) }
            pairs.withUnsafeMutableBufferPointer { pairs in
                guard let start = pairs.baseAddress else { return }
                let convert = isOpaque ? wi_light_pairs_rgb8 : wi_light_pairs_rgba8
                for row in Swift.stride(from: 0, to: count, by: 2) {
                    let upper = (base + row * bytesPerRow).samples8
                    // A single row at the end forms a pair with itself, and its second weight is 0.
                    let lower = row + 1 < count ? upper + bytesPerRow : upper
                    convert(upper, lower, start + row / 2 * stride, tables, width)
                }
            }
        }
    }

    private mutating func loadFloats(
        _ base: UnsafeRawPointer, bytesPerRow: Int, count: Int, _ tables: UnsafePointer<wi_resample_tables>
    ) {
        let width = columns.span.count
        let kernels = format.kernels
        light.withUnsafeMutableBufferPointer { light in
            guard let start = light.baseAddress,
                let convert = isOpaque ? kernels.light_row_opaque : kernels.light_row
            else { return }
            for row in 0..<count {
                convert(base + row * bytesPerRow, start + row * stride, tables, width)
            }
        }
    }

    /// Adds the rows in `band`, which are converted to light, to the sums of an output row.
    private mutating func add(_ band: Range<Int>, to row: Int) {
        let tap = rows.taps[row]
        let used = band.clamped(to: Int(tap.first)..<Int(tap.first + tap.count))
        guard !used.isEmpty else { return }
        let place = row - finished
        while sums.count <= place { sums.append([]) }
        let isNew = sums[place].isEmpty
        // The horizontal kernel reads up to a vector and three pixels past the last pixel.
        if isNew { sums[place] = spare.popLast() ?? [Float](repeating: 0, count: stride + Int(WI_LIGHT_LANES)) }
        if usesPairs {
            let pair = (used.lowerBound - band.lowerBound) / 2
            let count = (used.upperBound - band.lowerBound + 1) / 2 - pair
            vertical.writePairs(of: tap, from: band.lowerBound + pair * 2, count: count, in: used, to: &weights)
            pairs.withUnsafeBufferPointer { pairs in
                guard let start = pairs.baseAddress else { return }
                wi_add_light_pairs(&sums[place], start + pair * stride, stride, weights, count, stride, isNew)
            }
        } else {
            light.withUnsafeBufferPointer { light in
                rows.weights.withUnsafeBufferPointer { weights in
                    guard let start = light.baseAddress, let weights = weights.baseAddress else { return }
                    wi_add_light_rows(
                        &sums[place], start + (used.lowerBound - band.lowerBound) * stride, stride,
                        weights + Int(tap.weight) + used.lowerBound - Int(tap.first), used.count, stride, isNew)
                }
            }
        }
    }

    private mutating func writeNext(into canvas: borrowing PixelCanvas) {
        let out = canvas.baseAddress + finished * canvas.bytesPerRow
        let rowBytes = canvas.size.width * format.bytesPerPixel
        finished += 1
        let total = sums.isEmpty ? [] : sums.removeFirst()
        guard !total.isEmpty else {
            out.initializeMemory(as: UInt8.self, repeating: 0, count: canvas.bytesPerRow)
            return
        }
        (out + rowBytes).initializeMemory(as: UInt8.self, repeating: 0, count: canvas.bytesPerRow - rowBytes)
        let kernels = format.kernels
        columns.withKernel { columns in
            withUnsafePointer(to: tables.kernel) { tables in
                if usesPairs {
                    let encode = isOpaque ? wi_encode_light_rgb8 : wi_encode_light_rgba8
                    encode(total, columns, vertical.unit, tables, out)
                } else if let encode = isOpaque ? kernels.encode_row_opaque : kernels.encode_row {
                    encode(total, columns, 1, tables, out)
                }
            }
        }
        spare.append(total)
    }
}

/// The weights of source rows as 16-bit integers, for pairs of rows.
private struct LightWeights {
    private var weights: [Int16] = []
    /// The factor from sums of integers to light.
    let unit: Float

    /// Converts weights to integers that are as large as possible without an overflow.
    ///
    /// The rounding error of a weight is added to the next weight. Therefore, all weights of an output row have the exact
    /// sum, and errors cancel each other out in smooth areas.
    init(_ taps: ResampleTaps) {
        var largest: Float = 0
        var largestBand: Float = 0
        for tap in taps.taps {
            let own = taps.weights[Int(tap.weight)..<Int(tap.weight + tap.count)].map(abs)
            largest = max(largest, own.max() ?? 0)
            // A band can begin at any row.
            var band: Float = 0
            for (index, weight) in own.enumerated() {
                band += weight
                if index >= LightPass.bandRows { band -= own[index - LightPass.bandRows] }
                largestBand = max(largestBand, band)
            }
        }
        // Leave room for rounding, which changes a weight by less than 1.
        let bandLimit = Float(Int32.max) / Float(WI_LIGHT_MAXIMUM) - Float(2 * LightPass.bandRows)
        let limit = min(Float(Int16.max - 1) / largest, bandLimit / largestBand)
        let scale = Float(sign: .plus, exponent: limit.exponent, significand: 1)
        unit = 1 / scale
        weights.reserveCapacity(taps.weights.count)
        for tap in taps.taps {
            var error = 0.0
            for weight in taps.weights[Int(tap.weight)..<Int(tap.weight + tap.count)] {
                let exact = Double(weight) * Double(scale) + error
                let rounded = exact.rounded()
                error = exact - rounded
                weights.append(Int16(rounded))
            }
        }
    }

    /// Writes the weights of `count` pairs of rows, which begin at the row `first`. Rows outside `used` have the weight 0.
    func writePairs(of tap: wi_tap, from first: Int, count: Int, in used: Range<Int>, to pairs: inout [UInt32]) {
        func weight(_ row: Int) -> UInt32 {
            guard used.contains(row) else { return 0 }
            return UInt32(UInt16(bitPattern: weights[Int(tap.weight) + row - Int(tap.first)]))
        }
        for pair in 0..<count { pairs[pair] = weight(first + pair * 2) | weight(first + pair * 2 + 1) << 16 }
    }
}

/// The positions and weights of source columns, with the same number of weights for each output pixel.
private struct LightColumns {
    /// The required columns of the source.
    let span: Range<Int>
    private var first: [UInt32] = []
    private var weights: [Float] = []
    private let count: Int

    init(_ taps: ResampleTaps) {
        span = taps.span
        count = ((taps.taps.map { Int($0.count) }.max() ?? 0) + 3) / 4 * 4
        weights = [Float](repeating: 0, count: count * taps.taps.count)
        for (index, tap) in taps.taps.enumerated() {
            // The kernel reads `count` pixels, so they must not begin too close to the end of the row.
            let own = Int(tap.first) - span.lowerBound
            let start = min(own, max(0, span.count - count))
            first.append(UInt32(start))
            for weight in 0..<Int(tap.count) {
                weights[index * count + own - start + weight] = taps.weights[Int(tap.weight) + weight]
            }
        }
    }

    func withKernel(_ body: (UnsafePointer<wi_light_columns>) -> Void) {
        first.withUnsafeBufferPointer { first in
            weights.withUnsafeBufferPointer { weights in
                var kernel = wi_light_columns(
                    first: first.baseAddress, weights: weights.baseAddress, count: count, width: first.count)
                withUnsafePointer(to: &kernel, body)
            }
        }
    }
}
