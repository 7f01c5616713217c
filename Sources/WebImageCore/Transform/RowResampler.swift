// SPDX-License-Identifier: MIT

import CPixelKernels

/// A ``Resampler`` for a source that's never completely in memory.
///
/// The resampler consumes the rows from top to bottom. It stores the result, and the sums of the output rows to which
/// the current source rows contribute.
package struct RowResampler: ~Copyable {
    private let sourceSize: PixelSize
    private let canvas: PixelCanvas
    private let vertical: ResampleTaps
    private let horizontal: ResampleTaps
    /// The required columns of the source.
    private let columns: Range<Int>
    /// The pass in linear light, or `nil` if the stored values are averaged.
    private var light: LightPass?
    /// The sums of the output rows in progress, and arrays for reuse.
    private var sums: [Int: [Float]] = [:]
    private var spare: [[Float]] = []
    /// The number of received source rows and of finished output rows.
    private var received = 0
    private var finished = 0

    /// Creates a resampler.
    ///
    /// - Parameters:
    ///   - sourceSize: The size of the source, in pixels.
    ///   - window: The part of the source to use. It must be inside the source, and its edges may be fractional.
    ///   - output: The size of the result, in pixels.
    ///   - format: The pixel format of the source and the result.
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)``, an
    ///   ``ImageError/LimitFailure`` if the result is too large, or
    ///   ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    package init(
        sourceSize: PixelSize, window: SampleRect, to output: PixelSize, format: PixelFormat,
        filter: ResamplingFilter, context: ImageProcessingContext
    ) throws(ImageError) {
        try Resampler.check(window: window, in: sourceSize)
        try context.limits.check(result: output, format: format)
        let canvas = try PixelCanvas(size: output, format: format)
        self.sourceSize = sourceSize
        vertical = ResampleTaps(
            start: window.y, length: window.height, limit: sourceSize.height, output: output.height,
            kernel: filter.kernel)
        var horizontal = ResampleTaps(
            start: window.x, length: window.width, limit: sourceSize.width, output: output.width,
            kernel: filter.kernel)
        // Rows can be missing at the end, so the result can be transparent even if all rows are opaque.
        if let tables = LightTables.of(context.lightCurve, isOpaque: format.layout.isWide),
            filter.usesLinearLight(from: window, to: output)
        {
            light = LightPass(
                vertical: vertical, horizontal: horizontal, format: format, isOpaque: false, tables: tables)
        }
        columns = horizontal.span
        horizontal.rebase(to: columns.lowerBound)
        self.horizontal = horizontal
        self.canvas = canvas
    }

    /// Whether the remaining source rows don't affect the result.
    package var isComplete: Bool { (light?.finished ?? finished) == canvas.size.height }

    /// Adds the next premultiplied rows. They must be as wide as the source, and there must not be more than the
    /// remaining rows.
    package mutating func add(_ rows: PixelBuffer, context: ImageProcessingContext) throws(ImageError) {
        guard rows.width == sourceSize.width, rows.format == canvas.format,
            rows.height <= sourceSize.height - received
        else {
            throw .processing(
                .invalidParameter(transformer: "resample", parameter: "source", value: "\(rows.size) of \(sourceSize)"))
        }
        let band = received..<received + rows.height
        received = band.upperBound
        if light != nil {
            try rows.withUnsafeBytes { (bytes) throws(ImageError) in
                guard let base = bytes.baseAddress else { return }
                try light?.add(base, bytesPerRow: rows.bytesPerRow, band: band, into: canvas, context: context)
            }
            return
        }
        var row = finished
        while row < canvas.size.height {
            let tap = vertical.taps[row]
            guard Int(tap.first) < band.upperBound else { break }
            try context.checkCancellation()
            add(rows, band, tap, to: row)
            if Int(tap.first + tap.count) <= band.upperBound, row == finished { write(row) }
            row += 1
        }
    }

    /// Returns the result. Missing source rows count as transparent.
    package consuming func finish(isOpaque: Bool) -> PixelBuffer {
        light?.finish(into: canvas)
        while light == nil, finished < canvas.size.height { write(finished) }
        return canvas.finish(isOpaque: isOpaque)
    }

    private mutating func add(_ rows: PixelBuffer, _ band: Range<Int>, _ tap: wi_tap, to row: Int) {
        let used = max(Int(tap.first), band.lowerBound)..<min(Int(tap.first + tap.count), band.upperBound)
        guard !used.isEmpty else { return }
        let samples = columns.count * 4
        var total = sums.removeValue(forKey: row) ?? spare.popLast() ?? [Float](repeating: 0, count: samples)
        rows.withRow(used.lowerBound - band.lowerBound) { first in
            let source = first + columns.lowerBound * rows.format.bytesPerPixel
            vertical.weights.withUnsafeBufferPointer { weights in
                guard let weights = weights.baseAddress else { return }
                let from = weights + Int(tap.weight) + used.lowerBound - Int(tap.first)
                rows.format.kernels.vertical_add(&total, source, rows.bytesPerRow, from, used.count, samples)
            }
        }
        sums[row] = total
    }

    private mutating func write(_ row: Int) {
        finished = row + 1
        guard var total = sums.removeValue(forKey: row) else { return }
        let out = canvas.baseAddress + row * canvas.bytesPerRow
        canvas.format.kernels.horizontal(total, horizontal.taps, horizontal.weights, canvas.size.width, out)
        for index in total.indices { total[index] = 0 }
        spare.append(total)
    }
}
