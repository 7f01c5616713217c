// SPDX-License-Identifier: MIT

import CPixelKernels

/// A namespace for functions that enlarge and reduce images. They process premultiplied values, either as light or in the
/// stored, nonlinear encoding. See ``ResamplingFilter/Light``.
package enum Resampler {
    /// Resamples a part of a source into a canvas of the same pixel format.
    ///
    /// This method writes every pixel of the canvas, and the result of an opaque source is opaque. The method blocks
    /// and may be called on any thread.
    ///
    /// - Parameters:
    ///   - source: All rows of the source.
    ///   - sourceSize: The size of the source, in pixels.
    ///   - sourceBytesPerRow: The distance between the starts of two source rows, in bytes.
    ///   - window: The part of the source to use, in source pixels. Its edges may be fractional.
    ///   - canvas: The canvas for the result. Its size determines the size of the result.
    ///   - filter: The kernel and the light.
    ///   - isOpaque: Whether the source is known to be opaque, which saves time. The default is `false`.
    ///   - context: The context that's checked for cancellation and for the deadline between rows. It determines the
    ///     curve of the samples.
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the window isn't
    ///   inside the source or the source is too short, or an error of ``ImageProcessingContext/checkCancellation()``.
    package static func resample(
        source: UnsafeRawBufferPointer, sourceSize: PixelSize, sourceBytesPerRow: Int, window: SampleRect,
        into canvas: borrowing PixelCanvas, filter: ResamplingFilter, isOpaque: Bool = false,
        context: ImageProcessingContext
    ) throws(ImageError) {
        try check(window: window, in: sourceSize)
        guard max(canvas.size.width, canvas.size.height) <= maxSideLength else {
            throw invalid("output", "\(canvas.size)")
        }
        let bytesPerPixel = canvas.format.bytesPerPixel
        guard let base = source.baseAddress, sourceSize.width <= sourceBytesPerRow / bytesPerPixel,
            sourceBytesPerRow.isMultiple(of: bytesPerPixel),
            source.count / sourceBytesPerRow >= sourceSize.height - 1,
            source.count - (sourceSize.height - 1) * sourceBytesPerRow >= sourceSize.width * bytesPerPixel
        else {
            throw invalid("source", "\(source.count) bytes for \(sourceSize)")
        }
        let vertical = ResampleTaps(
            start: window.y, length: window.height, limit: sourceSize.height, output: canvas.size.height,
            kernel: filter.kernel)
        var horizontal = ResampleTaps(
            start: window.x, length: window.width, limit: sourceSize.width, output: canvas.size.width,
            kernel: filter.kernel)
        let tables = LightTables.of(context.lightCurve, isOpaque: isOpaque || canvas.format.layout.isWide)
        if let tables, filter.usesLinearLight(from: window, to: canvas.size) {
            var pass = LightPass(
                vertical: vertical, horizontal: horizontal, format: canvas.format, isOpaque: isOpaque, tables: tables)
            try pass.run(base, bytesPerRow: sourceBytesPerRow, into: canvas, context: context)
            return
        }
        let columns = horizontal.span
        horizontal.rebase(to: columns.lowerBound)
        let pass = ResamplePass(
            source: base + columns.lowerBound * bytesPerPixel, bytesPerRow: sourceBytesPerRow,
            samples: columns.count * 4, vertical: vertical, horizontal: horizontal)
        try pass.run(into: canvas, context: context)
    }

    /// Returns a resampled part of an image. If the part is the whole image and its size doesn't change, this method
    /// returns the same buffer.
    ///
    /// This method blocks and may be called on any thread.
    ///
    /// - Parameters:
    ///   - pixels: The source.
    ///   - window: The part of the source to use, in source pixels. Its edges may be fractional.
    ///   - output: The size of the result, in pixels.
    ///   - filter: The kernel and the light. The default is Lanczos-3 in linear light.
    ///   - context: The limits for the result, the curve of the samples, the cancellation, and the deadline.
    /// - Throws: An error of the other overload, an ``ImageError/LimitFailure`` if the result is too large, or
    ///   ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    package static func resample(
        _ pixels: PixelBuffer, window: SampleRect, to output: PixelSize, filter: ResamplingFilter = .lanczos3,
        context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        if ScalePlan(window: window, output: output).isIdentity(for: pixels.size) { return pixels }
        guard !output.isEmpty else { throw invalid("output", "\(output)") }
        try context.limits.check(result: output, format: pixels.format)
        let canvas = try PixelCanvas(size: output, format: pixels.format, cleared: false)
        try pixels.withUnsafeBytes { bytes throws(ImageError) in
            try resample(
                source: bytes, sourceSize: pixels.size, sourceBytesPerRow: pixels.bytesPerRow, window: window,
                into: canvas, filter: filter, isOpaque: pixels.isOpaque, context: context)
        }
        return canvas.finish(isOpaque: pixels.isOpaque)
    }

    /// The longest side for which 32-bit integers can count the weights of a row (at most 6 per source pixel and 8 per
    /// output pixel).
    private static let maxSideLength = 1 << 28

    static func check(window: SampleRect, in size: PixelSize) throws(ImageError) {
        // Windows are computed in floating point, so tolerate an error of a millionth of a pixel.
        let slack = 1e-6
        let finite = [window.x, window.y, window.width, window.height].allSatisfy(\.isFinite)
        guard finite, window.width > 0, window.height > 0, window.x >= -slack, window.y >= -slack,
            window.x + window.width <= Double(size.width) + slack,
            window.y + window.height <= Double(size.height) + slack,
            max(size.width, size.height) <= maxSideLength
        else {
            throw invalid("window", "\(window.x),\(window.y),\(window.width),\(window.height) in \(size)")
        }
    }

    private static func invalid(_ parameter: String, _ value: String) -> ImageError {
        .processing(.invalidParameter(transformer: "resample", parameter: parameter, value: value))
    }
}

/// A pass over a source in its stored encoding, which computes the weighted sum of source rows and then of columns for
/// each output row.
private struct ResamplePass {
    /// The address of the first required column in the first row.
    let source: UnsafeRawPointer
    let bytesPerRow: Int
    /// The number of required samples of a source row.
    let samples: Int
    let vertical: ResampleTaps
    let horizontal: ResampleTaps

    /// The number of samples between two checkpoints, which take about a millisecond.
    private static let samplesPerCheckpoint = 8_000_000

    func run(into canvas: borrowing PixelCanvas, context: ImageProcessingContext) throws(ImageError) {
        var sums = [Float](repeating: 0, count: samples)
        var work = 0
        let rowBytes = canvas.size.width * canvas.format.bytesPerPixel
        let kernels = canvas.format.kernels
        for (row, tap) in vertical.taps.enumerated() {
            work += Int(tap.count) * samples + canvas.size.width * 16
            if work >= Self.samplesPerCheckpoint {
                try context.checkCancellation()
                work = 0
            }
            let out = canvas.baseAddress + row * canvas.bytesPerRow
            writeRow(tap, sums: &sums, kernels, width: canvas.size.width, out: out)
            (out + rowBytes).initializeMemory(as: UInt8.self, repeating: 0, count: canvas.bytesPerRow - rowBytes)
        }
    }

    private func writeRow(
        _ tap: wi_tap, sums: inout [Float], _ kernels: wi_pixel_kernels, width: Int, out: UnsafeMutableRawPointer
    ) {
        let rows = source + Int(tap.first) * bytesPerRow
        sums.withUnsafeMutableBufferPointer { sums in
            vertical.weights.withUnsafeBufferPointer { weights in
                guard let weights = weights.baseAddress.map({ $0 + Int(tap.weight) }) else { return }
                kernels.vertical(sums.baseAddress, rows, bytesPerRow, weights, Int(tap.count), samples)
                kernels.horizontal(sums.baseAddress, horizontal.taps, horizontal.weights, width, out)
            }
        }
    }
}
