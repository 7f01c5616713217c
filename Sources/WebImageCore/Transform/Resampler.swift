// SPDX-License-Identifier: MIT

import CPixelKernels

/// Makes pictures smaller or larger. Works on premultiplied values in the light they are stored in.
public enum Resampler {
    /// How source pixels are weighed.
    public enum Filter: Sendable {
        /// Lanczos with three lobes: sharp; rings a little at hard edges.
        case lanczos3
        /// Exact area average: softer, no ringing, less than half the time.
        case box
    }

    /// Resamples a part of a source into a canvas of the same pixel format. Fills every pixel of the canvas; an
    /// opaque source stays opaque. Blocks; may be called on any thread.
    ///
    /// - Parameters:
    ///   - source: all rows of the source.
    ///   - sourceSize: its width and height in pixels.
    ///   - sourceBytesPerRow: bytes between the beginnings of two of its rows.
    ///   - window: the part of the source to use, in its pixels; may begin and end between pixels.
    ///   - canvas: where the result goes; its size is the size of the result.
    ///   - filter: how source pixels are weighed.
    ///   - context: asked for cancellation and time between rows.
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for a window that is not inside
    ///   the source or a source that is too short, and what ``CodingContext/checkpoint()`` throws.
    public static func resample(
        source: UnsafeRawBufferPointer, sourceSize: PixelSize, sourceBytesPerRow: Int, window: SampleRect,
        into canvas: borrowing PixelCanvas, filter: Filter, context: CodingContext
    ) throws(ImageError) {
        try check(window: window, in: sourceSize)
        guard max(canvas.size.width, canvas.size.height) <= longestSide else {
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
            filter: filter)
        var horizontal = ResampleTaps(
            start: window.x, length: window.width, limit: sourceSize.width, output: canvas.size.width,
            filter: filter)
        let columns = horizontal.span
        horizontal.rebase(to: columns.lowerBound)
        let pass = ResamplePass(
            source: base + columns.lowerBound * bytesPerPixel, bytesPerRow: sourceBytesPerRow,
            samples: columns.count * 4, vertical: vertical, horizontal: horizontal)
        try pass.run(into: canvas, context: context)
    }

    /// Resamples a part of a picture. A whole picture at its own size is returned as it is. Blocks; may be called
    /// on any thread.
    ///
    /// - Parameters:
    ///   - pixels: the source.
    ///   - window: the part of the source to use, in its pixels; may begin and end between pixels.
    ///   - output: pixels of the result.
    ///   - filter: how source pixels are weighed. Default Lanczos-3.
    ///   - context: the limits that the result obeys, cancellation and time.
    /// - Throws: as the other form, a ``LimitError`` for a result that is too large, and
    ///   ``DecodeError/outOfMemory(bytes:)``.
    public static func resample(
        _ pixels: PixelBuffer, window: SampleRect, to output: PixelSize, filter: Filter = .lanczos3,
        context: CodingContext
    ) throws(ImageError) -> PixelBuffer {
        if ScalePlan(window: window, output: output).isIdentity(for: pixels.size) { return pixels }
        guard !output.isEmpty else { throw invalid("output", "\(output)") }
        try context.limits.check(result: output, format: pixels.format)
        let canvas = try PixelCanvas(size: output, format: pixels.format, zeroed: false)
        try pixels.withUnsafeBytes { bytes throws(ImageError) in
            try resample(
                source: bytes, sourceSize: pixels.size, sourceBytesPerRow: pixels.bytesPerRow, window: window,
                into: canvas, filter: filter, context: context)
        }
        return canvas.finish(isOpaque: pixels.isOpaque)
    }

    /// Up to here the weights of a row (at most 6 a source pixel and 8 an output pixel) are counted in 32 bits.
    private static let longestSide = 1 << 28

    static func check(window: SampleRect, in size: PixelSize) throws(ImageError) {
        // Windows are worked out in floating point; a billionth of a pixel over the edge is inside.
        let slack = 1e-6
        let finite = [window.x, window.y, window.width, window.height].allSatisfy(\.isFinite)
        guard finite, window.width > 0, window.height > 0, window.x >= -slack, window.y >= -slack,
            window.x + window.width <= Double(size.width) + slack,
            window.y + window.height <= Double(size.height) + slack,
            max(size.width, size.height) <= longestSide
        else {
            throw invalid("window", "\(window.x),\(window.y),\(window.width),\(window.height) in \(size)")
        }
    }

    private static func invalid(_ parameter: String, _ value: String) -> ImageError {
        .transform(.invalidParameter(transformer: "resample", parameter: parameter, value: value))
    }
}

/// One run over a source: for each output row the weighted sum of source rows, then of its columns.
private struct ResamplePass {
    /// The first column that is needed, in the first row.
    let source: UnsafeRawPointer
    let bytesPerRow: Int
    /// Samples of a source row that are needed.
    let samples: Int
    let vertical: ResampleTaps
    let horizontal: ResampleTaps

    /// About a millisecond of work between two looks at clock and flag.
    private static let samplesPerCheckpoint = 8_000_000

    func run(into canvas: borrowing PixelCanvas, context: CodingContext) throws(ImageError) {
        var sums = [Float](repeating: 0, count: samples)
        var work = 0
        let rowBytes = canvas.size.width * canvas.format.bytesPerPixel
        for (row, tap) in vertical.taps.enumerated() {
            work += Int(tap.count) * samples + canvas.size.width * 16
            if work >= Self.samplesPerCheckpoint {
                try context.checkpoint()
                work = 0
            }
            let out = canvas.baseAddress + row * canvas.bytesPerRow
            writeRow(tap, sums: &sums, format: canvas.format, width: canvas.size.width, out: out)
            (out + rowBytes).initializeMemory(as: UInt8.self, repeating: 0, count: canvas.bytesPerRow - rowBytes)
        }
    }

    private func writeRow(
        _ tap: wi_tap, sums: inout [Float], format: PixelFormat, width: Int, out: UnsafeMutableRawPointer
    ) {
        let rows = source + Int(tap.first) * bytesPerRow
        sums.withUnsafeMutableBufferPointer { sums in
            vertical.weights.withUnsafeBufferPointer { weights in
                guard let weights = weights.baseAddress.map({ $0 + Int(tap.weight) }) else { return }
                switch format {
                case .rgba8:
                    wi_vertical_rgba8(
                        sums.baseAddress, rows.assumingMemoryBound(to: UInt8.self), bytesPerRow, weights,
                        Int(tap.count), samples)
                    wi_horizontal_rgba8(
                        sums.baseAddress, horizontal.taps, horizontal.weights, width,
                        out.assumingMemoryBound(to: UInt8.self))
                case .rgba16:
                    wi_vertical_rgba16(
                        sums.baseAddress, rows.assumingMemoryBound(to: UInt16.self), bytesPerRow, weights,
                        Int(tap.count), samples)
                    wi_horizontal_rgba16(
                        sums.baseAddress, horizontal.taps, horizontal.weights, width,
                        out.assumingMemoryBound(to: UInt16.self))
                }
            }
        }
    }
}
