// SPDX-License-Identifier: MIT

import WebImageCore

/// A decoder for the pixels of a bitmap after its header was read.
struct DIBDecoder {
    let header: DIBHeader
    /// The format of the file, for errors.
    let format: ImageFormat

    /// Decodes the pixels, which begin at `start` in `bytes`, and returns whether some are missing. Missing pixels are
    /// transparent.
    func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, at start: Int, allowsPartial: Bool, context: ImageProcessingContext
    ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        let canvas = try PixelCanvas.forDecoding(header.size, zeroed: true, context: context)
        let isWhole: Bool
        if header.compression == .none {
            let rows = DIBRows(header)
            let from = min(start, bytes.count)
            let done = try rows.decode(bytes[from...], into: canvas, context: context)
            isWhole = done == header.size.height
            if rows.hasAlpha { settleAlpha(canvas, rows: 0..<header.size.height) }
        } else {
            var runs = DIBRunLength(header, ByteReader(bytes, at: start))
            isWhole = try runs.decode(into: canvas, context: context)
        }
        guard isWhole || allowsPartial else {
            throw .decoding(.truncated(format: format, receivedBytes: bytes.count, expectedBytes: nil))
        }
        let isOpaque = canvas.isEveryPixelOpaque()
        return (canvas.finish(isOpaque: isOpaque), !isWhole)
    }

    /// Determines whether the alpha of decoded rows is meaningful. Premultiplies the rows if it is, or makes them
    /// opaque.
    func settleAlpha(_ canvas: borrowing PixelCanvas, rows: Range<Int>) {
        if header.hasStatedAlpha || hasVisiblePixel(canvas) {
            canvas.premultiply(rows: rows)
        } else {
            makeOpaque(canvas, rows: rows)
        }
    }

    /// Many encoders set the fourth byte to zero, regardless of the mask in the header.
    private func hasVisiblePixel(_ canvas: borrowing PixelCanvas) -> Bool {
        for row in 0..<header.size.height {
            let pixels = canvas.row(row)
            for x in 0..<header.size.width where pixels[x * 4 + 3] != 0 { return true }
        }
        return false
    }

    private func makeOpaque(_ canvas: borrowing PixelCanvas, rows: Range<Int>) {
        for row in rows {
            let pixels = canvas.row(row)
            for x in 0..<header.size.width { pixels[x * 4 + 3] = 255 }
        }
    }
}
