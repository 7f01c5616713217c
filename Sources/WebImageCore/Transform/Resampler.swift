// SPDX-License-Identifier: MIT

import CPixelKernels

/// Temporary stand-in.
public enum Resampler {
    /// Filter.
    public enum Filter: Sendable {
        /// Lanczos.
        case lanczos3
        /// Box.
        case box
    }

    /// Resamples.
    public static func resample(
        source: UnsafeRawBufferPointer, sourceSize: PixelSize, sourceBytesPerRow: Int, window: SampleRect,
        into canvas: borrowing PixelCanvas, filter: Filter, context: CodingContext
    ) throws(ImageError) {
        guard let base = source.baseAddress else { return }
        _ = wi_resample_simple(
            base.assumingMemoryBound(to: UInt8.self), sourceSize.width, sourceSize.height, sourceBytesPerRow,
            window.x, window.y, window.width, window.height,
            canvas.baseAddress.assumingMemoryBound(to: UInt8.self), canvas.size.width, canvas.size.height,
            canvas.bytesPerRow, filter == .box ? 1 : 0)
    }

    /// Resamples.
    public static func resample(
        _ pixels: PixelBuffer, window: SampleRect, to output: PixelSize, filter: Filter, context: CodingContext
    ) throws(ImageError) -> PixelBuffer {
        let canvas = try PixelCanvas(size: output)
        try pixels.withUnsafeBytes { (bytes) throws(ImageError) in
            try resample(
                source: bytes, sourceSize: pixels.size, sourceBytesPerRow: pixels.bytesPerRow, window: window,
                into: canvas, filter: filter, context: context)
        }
        return canvas.finish(isOpaque: pixels.isOpaque)
    }
}
