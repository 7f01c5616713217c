// SPDX-License-Identifier: MIT

import WebImageCore

/// An operation that decodes a still PNG image to the requested size. It decodes row by row if the full image is much
/// larger than the result.
struct PNGDownscaler {
    let layout: DecodeLayout
    let color: ColorConversion?
    let options: ImageDecodingOptions

    /// The number of rows to decode before they're added to the result.
    static let band = 32

    /// Decodes the image at the requested size, and returns whether rows are missing or the checksum of the compressed
    /// pixels is wrong.
    func decode(_ reader: borrowing PNGReader) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        try reader.retrying { (reader) throws(ImageError) in try decodeOnce(reader) }
    }

    private func decodeOnce(_ reader: borrowing PNGReader) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool)
    {
        let isRowWise = try isRowWise(reader)
        let convertsLast = layout.convertsLast(color)
        let first = convertsLast ? nil : color
        let decoded =
            isRowWise
            ? try decodeRows(reader, color: first)
            : try reader.decode(
                allowsPartial: options.allowsPartialData, color: first, preservesBitDepth: options.preservesBitDepth)
        let last = convertsLast ? color : nil
        let pixels =
            isRowWise
            ? try layout.finishReduced(decoded.pixels, color: last, context: reader.context)
            : try layout.finish(decoded.pixels, color: last, context: reader.context)
        return (pixels, decoded.isPartial)
    }

    /// Returns whether to decode row by row. Interlaced images arrive in passes. If the fast decoder supports the
    /// image and the limits allow it, decoding all rows together is faster.
    private func isRowWise(_ reader: borrowing PNGReader) throws(ImageError) -> Bool {
        guard layout.isMuchSmaller, !reader.isInterlaced else { return false }
        do throws(ImageError) {
            try reader.context.limits.check(result: layout.rawSize, format: options.pixelFormat(reader.depth))
        } catch {
            return true
        }
        return try reader.wholeDecoder() == nil
    }

    private func decodeRows(_ reader: borrowing PNGReader, color: ColorConversion?)
        throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool)
    {
        let context = reader.context
        var resampler = try layout.rowResampler(options.pixelFormat(reader.depth), context: context)
        var isPartial = false
        var isStarted = false
        var isOpaque = true
        var row = 0
        // Also decode the rows below the window, so that corrupt data in them is detected.
        while row < reader.size.height, !isPartial {
            let size = PixelSize(width: reader.size.width, height: min(Self.band, reader.size.height - row))
            let reading = PixelImporter(
                size, depth: reader.depth, preservesBitDepth: options.preservesBitDepth, color: color)
            let rows = try reading.pixels(context: context) { (canvas) throws(ImageError) in
                if !isStarted { _ = try reader.start(canvas.format) }
                isStarted = true
                isPartial = try reader.readRows(into: canvas, allowsPartial: options.allowsPartialData) != nil
                return .init(hasAlpha: reader.hasAlpha || isPartial)
            }
            isOpaque = isOpaque && rows.isOpaque
            if !resampler.isComplete { try resampler.add(rows, context: context) }
            row += size.height
        }
        return (resampler.finish(isOpaque: isOpaque && !isPartial), isPartial || reader.isDamaged)
    }
}
