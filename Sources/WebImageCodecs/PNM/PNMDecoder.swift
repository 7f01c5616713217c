// SPDX-License-Identifier: MIT

import WebImageCore

/// An operation that decodes the pixels of a whole file.
struct PNMDecoder {
    /// The number of rows to decode before they're added to a reduced image.
    static let band = 32

    private let rows: PNMRows
    private let bytes: UnsafeBufferPointer<UInt8>
    private let format: PixelFormat
    private let allowsPartial: Bool
    private let context: ImageProcessingContext

    private var header: PNMHeader { rows.header }

    /// The bytes must outlive the operation.
    init(
        _ header: PNMHeader, _ bytes: UnsafeBufferPointer<UInt8>, options: ImageDecodingOptions,
        context: ImageProcessingContext
    ) {
        rows = PNMRows(header)
        self.bytes = bytes
        format = options.pixelFormat(header.bitDepth)
        allowsPartial = options.allowsPartialData
        self.context = context
    }

    /// Decodes all pixels, and returns whether some are missing. Missing pixels are transparent.
    func decode() throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        let canvas = try PixelCanvas.forDecoding(header.size, format: format, zeroed: true, context: context)
        var source = PNMRowSource(header)
        var offset = header.pixelOffset
        let count = try decode(&source, at: &offset, into: canvas)
        let isPartial = count < header.size.height
        let isOpaque = !isPartial && (!header.hasAlpha || canvas.isEveryPixelOpaque())
        return (canvas.finish(isOpaque: isOpaque), isPartial)
    }

    /// Decodes all pixels and reduces them to the size in `layout`. The result corresponds to that of ``decode()``.
    func reduce(_ layout: DecodeLayout) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        var resampler = try layout.rowResampler(format, context: context)
        var source = PNMRowSource(header)
        var offset = header.pixelOffset
        var isOpaque = true
        // Also decode the rows below the window, so that invalid data in them is detected.
        for top in stride(from: 0, to: header.size.height, by: Self.band) {
            let size = PixelSize(width: header.size.width, height: min(Self.band, header.size.height - top))
            let canvas = try PixelCanvas.forDecoding(size, format: format, zeroed: true, context: context)
            let isPartial = try decode(&source, at: &offset, into: canvas) < size.height
            let isBandOpaque = !isPartial && (!header.hasAlpha || canvas.isEveryPixelOpaque())
            isOpaque = isOpaque && isBandOpaque
            let band = canvas.finish(isOpaque: isBandOpaque)
            if !resampler.isComplete { try resampler.add(band, context: context) }
            if isPartial { return (resampler.finish(isOpaque: false), true) }
        }
        return (resampler.finish(isOpaque: isOpaque), false)
    }

    /// Decodes rows until the canvas is full, and returns their number, which is smaller if pixels are missing.
    private func decode(
        _ source: inout PNMRowSource, at offset: inout Int, into canvas: borrowing PixelCanvas
    ) throws(ImageError) -> Int {
        for row in 0..<canvas.size.height {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            do throws(ImageError) {
                guard try source.fill(from: bytes, at: &offset, isLast: true) else {
                    throw .decoding(
                        .truncated(
                            format: header.format, receivedBytes: bytes.count,
                            expectedBytes: header.isText ? nil : header.smallestFile))
                }
            } catch {
                guard allowsPartial else { throw error }
                return row
            }
            let target = canvas.row(row)
            source.withRow(of: bytes) { rows.convert($0, into: target, as: format) }
        }
        return canvas.size.height
    }
}
