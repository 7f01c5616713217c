// SPDX-License-Identifier: MIT

import CPixelKernels
import WebImageCore

extension ColorConversion {
    /// Converts rows of a canvas with straight alpha in place.
    func convert(_ canvas: borrowing PixelCanvas, rows: Range<Int>) {
        for index in rows { convert(canvas.row(index), format: canvas.format, count: canvas.size.width) }
    }

    /// Converts a canvas with premultiplied alpha in place.
    func convertPremultiplied(_ canvas: borrowing PixelCanvas, context: ImageProcessingContext) throws(ImageError) {
        for index in 0..<canvas.size.height {
            if index % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            let isOpaque = canvas.isOpaque(row: index)
            if !isOpaque { canvas.unpremultiply(row: index) }
            convert(canvas, rows: index..<index + 1)
            if !isOpaque { canvas.premultiply(rows: index..<index + 1) }
        }
    }

    func converted(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let canvas = try PixelCanvas.forDecoding(pixels.size, format: pixels.format, context: context)
        pixels.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            canvas.baseAddress.copyMemory(from: base, byteCount: pixels.byteCount)
        }
        try convertPremultiplied(canvas, context: context)
        return canvas.finish(isOpaque: pixels.isOpaque)
    }

    /// Converts 16-bit pixels with straight alpha, rounds them to 8 bits, and writes them to `target`.
    func narrow(_ wide: borrowing PixelCanvas, into target: borrowing PixelCanvas, context: ImageProcessingContext)
        throws(ImageError)
    {
        for index in 0..<target.size.height {
            if index % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            let row = wide.words(index)
            convert(row, count: target.size.width)
            wi_narrow(row, target.row(index), target.size.width * 4)
        }
    }
}

extension PixelCanvas {
    /// Creates a cleared canvas for 16-bit pixels that are later reduced to 8 bits. Returns `nil` if both canvases
    /// together exceed the limit on decoded bytes.
    static func wide(_ size: PixelSize, context: ImageProcessingContext) throws(ImageError) -> PixelCanvas? {
        let bytes = PixelFormat.rgba16.bytesPerRow(width: size.width).map {
            $0.multipliedReportingOverflow(by: size.height)
        }
        guard let bytes, !bytes.overflow, bytes.partialValue <= context.limits.maxDecodedBytes / 3 * 2 else {
            return nil
        }
        return try PixelCanvas(size: size, format: .rgba16)
    }

    func unpremultiply() {
        for index in 0..<size.height { unpremultiply(row: index) }
    }

    fileprivate func unpremultiply(row index: Int) {
        format.kernels.unpremultiply(row(index), row(index), size.width)
    }
}
