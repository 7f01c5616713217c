// SPDX-License-Identifier: MIT

import CPixelKernels
import Glibc
import WebImageCore

/// The number of rows between two checks of the deadline and the cancellation flag.
let rowsPerCheckpoint = 32

extension PixelCanvas {
    /// Allocates memory for decoded pixels. Unless `zeroed` is `true`, only the padding between rows is cleared, and
    /// the caller must write every pixel. Throws an ``ImageError/LimitFailure`` of kind `decodedSize`, or
    /// ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    static func forDecoding(
        _ size: PixelSize, format: PixelFormat = .rgba8, zeroed: Bool = false, context: ImageProcessingContext
    ) throws(ImageError) -> PixelCanvas {
        let bytes = format.bytesPerRow(width: size.width).map {
            $0.multipliedReportingOverflow(by: size.height)
        }
        let limit = context.limits.maxDecodedBytes
        guard let bytes, !bytes.overflow, bytes.partialValue <= limit else {
            throw .limitExceeded(
                ImageError.LimitFailure(.decodedSize, limit: limit, actual: bytes?.partialValue ?? .max))
        }
        let canvas = try PixelCanvas(size: size, format: format, cleared: zeroed)
        if !zeroed { canvas.clearPadding() }
        return canvas
    }

    /// Returns the address of a row. The pointer is valid during the lifetime of the canvas.
    func row(_ row: Int) -> UnsafeMutablePointer<UInt8> {
        (baseAddress + row * bytesPerRow).assumingMemoryBound(to: UInt8.self)
    }

    /// Returns the address of a row of a canvas with 16-bit samples. The pointer is valid during the lifetime of the
    /// canvas.
    func words(_ row: Int) -> UnsafeMutablePointer<UInt16> {
        (baseAddress + row * bytesPerRow).assumingMemoryBound(to: UInt16.self)
    }

    /// Sets all rows from `first` on to transparent black.
    func clearRows(from first: Int) {
        guard first < size.height else { return }
        memset(row(first), 0, (size.height - first) * bytesPerRow)
    }

    func premultiply(rows: Range<Int>) {
        let kernels = format.kernels
        for index in rows { kernels.premultiply(row(index), size.width) }
    }

    /// Limits the colors of premultiplied rows to their alpha, because files can contain larger ones.
    func limitColors() {
        let kernels = format.kernels
        for index in 0..<size.height { kernels.limit(row(index), size.width) }
    }

    func isEveryPixelOpaque() -> Bool {
        for index in 0..<size.height where !isOpaque(row: index) { return false }
        return true
    }

    func isOpaque(row index: Int) -> Bool { format.kernels.is_opaque(row(index), size.width) }

    private func clearPadding() {
        let used = size.width * format.bytesPerPixel
        guard used < bytesPerRow else { return }
        for index in 0..<size.height { memset(row(index) + used, 0, bytesPerRow - used) }
    }
}
