// SPDX-License-Identifier: MIT

import CSandbox
import WebImageCore

/// The rows of a large image that are copied while the helper decodes the rest.
///
/// The copy has its own memory, so nothing that the helper writes later changes it.
final class EarlyCopy {
    private var canvas: PixelCanvas?
    private let size: PixelSize
    private let byteCount: Int
    private var copied = 0

    /// The size from which rows are copied early, in bytes.
    private static let smallest = 4 << 20

    /// Creates a copy for an image that a decoder is expected to write from the top, or returns `nil` for other images.
    init?(_ info: ImageInfo?, _ options: ImageDecodingOptions, _ limits: ImageLimits) {
        // The decoder of JPEG writes final rows from the top. Another orientation or a resampler would move or replace
        // them.
        guard let info, info.format == .jpeg, info.orientation == .up, options.size == nil,
            let area = info.storedSize.area, area >= Self.smallest / 4, area <= limits.maxPixels,
            let canvas = try? PixelCanvas(size: info.storedSize, cleared: false),
            canvas.byteCount <= limits.maxDecodedBytes
        else { return nil }
        size = info.storedSize
        byteCount = canvas.byteCount
        self.canvas = consume canvas
    }

    /// Returns the number that describes the progress of a request. Rows are multiples of 32 bytes.
    static func progress(of request: UInt64, finishedBytes: Int) -> UInt64 {
        request << 32 | UInt64(UInt32(clamping: finishedBytes / PixelFormat.rowAlignment))
    }

    /// Copies the rows that the helper has finished. The helper may lie, which affects only the pixels.
    func advance(in region: SharedRegion?, request: UInt64) {
        guard let region else { return }
        // The memory order of this read makes the rows visible that the helper wrote before it updated the number.
        let progress = wi_sandbox_progress(region.progress)
        // The progress of an earlier request remains until the helper reports the first rows of this one.
        guard UInt32(truncatingIfNeeded: progress >> 32) == UInt32(truncatingIfNeeded: request) else { return }
        let finished = Int(UInt32(truncatingIfNeeded: progress)) * PixelFormat.rowAlignment
        copy(upTo: min(finished, byteCount, region.roomForResults), from: region.address)
    }

    private func copy(upTo end: Int, from memory: UnsafeRawPointer) {
        guard end > copied else { return }
        canvas?.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { ($0 + copied).copyMemory(from: memory + copied, byteCount: end - copied) }
        }
        copied = end
    }

    /// Copies the remaining rows, and returns the image if it has the expected layout.
    func finish(_ pixels: PixelBody, memory: UnsafeRawBufferPointer) -> PixelBuffer? {
        guard copied > 0, pixels.size == size, pixels.format == .rgba8, pixels.offset == 0,
            pixels.byteCount == byteCount, byteCount <= memory.count, let base = memory.baseAddress
        else { return nil }
        copy(upTo: byteCount, from: base)
        return canvas.take()?.finish(isOpaque: pixels.isOpaque)
    }
}
