// SPDX-License-Identifier: MIT

import CPixelKernels
import WebImageCore

/// Rows between two looks at the clock and the cancellation flag.
let rowsPerCheckpoint = 32

extension PixelCanvas {
    /// Memory for decoded pixels, not cleared except for what lies between two rows: the caller writes every pixel.
    ///
    /// - Throws: a ``LimitError`` of kind decodedBytes, ``DecodeError/outOfMemory(bytes:)``.
    static func forDecoding(
        _ size: PixelSize, format: PixelFormat = .rgba8, zeroed: Bool = false, context: CodingContext
    ) throws(ImageError) -> PixelCanvas {
        let bytes = format.bytesPerRow(width: size.width).map {
            $0.multipliedReportingOverflow(by: size.height)
        }
        let limit = context.limits.maxDecodedBytes
        guard let bytes, !bytes.overflow, bytes.partialValue <= limit else {
            throw .limit(LimitError(.decodedBytes, limit: limit, actual: bytes?.partialValue ?? .max))
        }
        let canvas = try PixelCanvas(size: size, format: format, zeroed: zeroed)
        if !zeroed { canvas.clearPadding() }
        return canvas
    }

    /// Address of row `row`; valid as long as the canvas lives.
    func row(_ row: Int) -> UnsafeMutablePointer<UInt8> {
        (baseAddress + row * bytesPerRow).assumingMemoryBound(to: UInt8.self)
    }

    /// Address of row `row` of a canvas of 16-bit samples; valid as long as the canvas lives.
    func words(_ row: Int) -> UnsafeMutablePointer<UInt16> {
        (baseAddress + row * bytesPerRow).assumingMemoryBound(to: UInt16.self)
    }

    /// Sets the rows from `first` on to transparent black.
    func clearRows(from first: Int) {
        guard first < size.height else { return }
        row(first).update(repeating: 0, count: (size.height - first) * bytesPerRow)
    }

    /// Multiplies the colours of `rows` by their alpha.
    func premultiply(rows: Range<Int>) {
        for index in rows {
            switch format {
            case .rgba8: wi_premultiply_rgba8(row(index), size.width)
            case .rgba16: wi_premultiply_rgba16(words(index), size.width)
            }
        }
    }

    /// Whether every pixel is opaque.
    func isEveryPixelOpaque() -> Bool {
        for index in 0..<size.height where !isOpaque(row: index) { return false }
        return true
    }

    /// Whether every pixel of a row is opaque.
    func isOpaque(row index: Int) -> Bool {
        switch format {
        case .rgba8: wi_is_opaque_rgba8(row(index), size.width)
        case .rgba16: wi_is_opaque_rgba16(words(index), size.width)
        }
    }

    private func clearPadding() {
        let used = size.width * format.bytesPerPixel
        guard used < bytesPerRow else { return }
        for index in 0..<size.height { (row(index) + used).update(repeating: 0, count: bytesPerRow - used) }
    }
}
