// SPDX-License-Identifier: MIT

import CPNG
import CPixelKernels
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Decompressed rows, in which each row follows its filter type.
///
/// Safe: only one thread at a time uses the rows.
private final class RawRows: @unchecked Sendable {
    let base: UnsafeMutablePointer<UInt8>
    let byteCount: Int

    /// Allocates memory for `count` rows and `room` bytes after them.
    init(_ count: Int, rowBytes: Int, room: Int = 0) {
        byteCount = count * rowBytes
        // The loops read up to 4 bytes past the end.
        base = .allocate(capacity: byteCount + max(room, 4))
    }

    deinit { base.deallocate() }
}

/// An operation that decompresses rows and reverses their filters, on one or two threads.
///
/// Safe: the file, the compressed pixels, and the canvas outlive the operation, and its threads write to different rows.
struct PNGRowOperation: @unchecked Sendable {
    private let size: PixelSize
    private let layout: PNGFastDecoder.Layout
    private let rowBytes: Int
    private let pixels: wi_png_pixels
    private let canvas: UnsafeMutablePointer<UInt8>
    private let stride: Int
    private let context: ImageProcessingContext
    private let zeros: [UInt8]

    init(
        _ decoder: PNGFastDecoder, _ pixels: wi_png_pixels, _ canvas: borrowing PixelCanvas,
        _ context: ImageProcessingContext
    ) {
        (size, layout, rowBytes) = (decoder.size, decoder.layout, decoder.rowBytes)
        self.pixels = pixels
        self.canvas = canvas.row(0)
        stride = canvas.bytesPerRow
        self.context = context
        zeros = [UInt8](repeating: 0, count: max(size.width * 4, rowBytes))
    }

    /// Decodes all rows on the calling thread.
    func decode() throws(ImageError) -> PNGFastDecoder.Outcome {
        let raw = RawRows(size.height, rowBytes: rowBytes)
        // The calls use only the pointer, so the optimizer could release the rows earlier.
        defer { withExtendedLifetime(raw) {} }
        let result = unpack(raw)
        guard result != WI_PNG_UNPACK_FAILED, try unfilter(raw.base, 0..<size.height, above: nil) else {
            return .failed
        }
        return .decoded(isVerified: result == WI_PNG_UNPACKED)
    }

    /// Decodes the two strips of the file at the same time. Returns `false` if the data is invalid, if its checksum is wrong,
    /// or if the strips differ from the rows of the whole data.
    func decodeStrips() throws(ImageError) -> Bool {
        let first = Int(pixels.first_rows)
        let upper = RawRows(first, rowBytes: rowBytes, room: Int(WI_PNG_STRIP_ROOM))
        let lower = RawRows(size.height - first, rowBytes: rowBytes)
        defer { withExtendedLifetime((upper, lower)) {} }
        let second = Lock<SecondStrip?>(nil)
        var check: UInt32 = 0
        let isUpperComplete = try concurrently {
            let strip = decodeSecond(lower, first)
            second.withLock { $0 = strip }
        } _: { () throws(ImageError) -> Bool in
            let isValid = withUnsafePointer(to: pixels) {
                wi_png_unpack_first_strip($0, upper.base, upper.byteCount, &check)
            }
            return isValid ? try unfilter(upper.base, 0..<first, above: nil) : false
        }
        guard isUpperComplete, let strip = second.withLock({ $0 }),
            wi_png_combine_checks(check, strip.check, lower.byteCount) == strip.expected
        else { return false }
        if let isComplete = strip.isComplete { return isComplete }
        return try unfilter(lower.base, first..<size.height, above: lastRow(upper, first))
    }

    /// The result of the second strip.
    private struct SecondStrip {
        var check: UInt32 = 0
        /// The stored checksum of both strips.
        var expected: UInt32 = 0
        /// Whether all filters were reversed. `nil` means that the first row depends on the first strip.
        var isComplete: Bool?
    }

    private func decodeSecond(_ raw: RawRows, _ first: Int) -> SecondStrip? {
        var strip = SecondStrip()
        let isValid = withUnsafePointer(to: pixels) {
            wi_png_unpack_second_strip($0, raw.base, raw.byteCount, &strip.check, &strip.expected)
        }
        guard isValid else { return nil }
        // The filters None and Sub don't use the row above.
        if raw.base[0] <= 1 { strip.isComplete = (try? unfilter(raw.base, first..<size.height, above: nil)) ?? false }
        return strip
    }

    private func unpack(_ raw: RawRows) -> wi_png_unpack_result {
        withUnsafePointer(to: pixels) { wi_png_unpack($0, raw.base, raw.byteCount) }
    }

    private func row(_ row: Int) -> UnsafeMutablePointer<UInt8> { canvas + row * stride }

    /// Returns the samples of the last of the first `count` rows of the image, whose filters are reversed.
    private func lastRow(_ raw: RawRows, _ count: Int) -> UnsafePointer<UInt8> {
        if case .colors = layout { return UnsafePointer(row(count - 1)) }
        return UnsafePointer(raw.base + (count - 1) * rowBytes + 1)
    }

    /// Reverses the filters of the rows `range`, which begin at `packed`. `above` contains the samples of the row above
    /// them, or is `nil` if there's none. Returns `false` after an invalid filter.
    private func unfilter(
        _ packed: UnsafeMutablePointer<UInt8>, _ range: Range<Int>, above: UnsafePointer<UInt8>?
    ) throws(ImageError) -> Bool {
        var above = above
        var next = range.lowerBound
        while next < range.upperBound {
            try context.checkCancellation()
            let count = min(rowsPerCheckpoint, range.upperBound - next)
            let rows = packed + (next - range.lowerBound) * rowBytes
            let done = zeros.withUnsafeBufferPointer { unfilter(rows, next, count, above: above ?? $0.baseAddress) }
            guard done == count else { return false }
            next += count
            if case .colors = layout {
                above = UnsafePointer(row(next - 1))
            } else {
                above = UnsafePointer(rows + (count - 1) * rowBytes + 1)
            }
        }
        return true
    }

    /// Reverses the filters of `count` rows. Returns the number of rows that are complete.
    private func unfilter(
        _ rows: UnsafeMutablePointer<UInt8>, _ first: Int, _ count: Int, above: UnsafePointer<UInt8>?
    ) -> Int {
        let done: Int
        switch layout {
        case .colors(let channels):
            let unfilter = channels == 3 ? wi_unfilter_rgb8 : wi_unfilter_rgba8
            done = unfilter(rows, size.width, count, above, row(first), stride)
        case .grayAlpha:
            done = wi_unfilter_bytes(rows, rowBytes - 1, count, 2, above)
            for index in 0..<done {
                wi_spread_gray_alpha(rows + index * rowBytes + 1, row(first + index), size.width)
            }
        case .indices(let bits, let table):
            done = wi_unfilter_bytes(rows, rowBytes - 1, count, 1, above)
            for index in 0..<done {
                wi_spread_indices(rows + index * rowBytes + 1, bits, table, row(first + index), size.width)
            }
        }
        return done
    }
}
