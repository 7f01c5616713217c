// SPDX-License-Identifier: MIT

import CPixelKernels

/// A namespace for the function that applies an orientation to stored pixels.
package enum OrientationTransform {
    /// Returns the pixels with an orientation applied. For ``ImageOrientation/up``, this method returns the same
    /// buffer.
    ///
    /// This method blocks and may be called on any thread.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` if the result is too large,
    ///   ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``, or an error of
    ///   ``ImageProcessingContext/checkCancellation()``.
    package static func upright(
        _ pixels: PixelBuffer, _ orientation: ImageOrientation, context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        guard orientation != .up else { return pixels }
        let size = orientation.upright(pixels.size)
        try context.limits.check(result: size, format: pixels.format)
        let canvas = try PixelCanvas(size: size, format: pixels.format, cleared: false)
        let walk = RowTraversal(orientation, pixels)
        // Use a multiple of the kernel's tile that takes only a few milliseconds to process.
        let band = max(32, 1_000_000 / size.width / 32 * 32)
        for top in stride(from: 0, to: size.height, by: band) {
            try context.checkCancellation()
            let rows = min(band, size.height - top)
            let out = (canvas.baseAddress + top * canvas.bytesPerRow).assumingMemoryBound(to: UInt8.self)
            pixels.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
                let origin = base + walk.origin + top * walk.stepY
                let turn = pixels.format.bytesPerPixel == 4 ? wi_turn_32 : wi_turn_64
                turn(origin, walk.stepX, walk.stepY, out, canvas.bytesPerRow, size.width, rows)
            }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: pixels.isOpaque)
    }

    /// The byte offset of the stored pixel that becomes the first pixel of the result, and the byte distances between
    /// stored pixels that become horizontal and vertical neighbors.
    private struct RowTraversal {
        let origin: Int
        let stepX: Int
        let stepY: Int

        init(_ orientation: ImageOrientation, _ pixels: PixelBuffer) {
            let right = pixels.format.bytesPerPixel
            let down = pixels.bytesPerRow
            let lastColumn = (pixels.width - 1) * right
            let lastRow = (pixels.height - 1) * down
            (origin, stepX, stepY) =
                switch orientation {
                case .up: (0, right, down)
                case .upMirrored: (lastColumn, -right, down)
                case .down: (lastColumn + lastRow, -right, -down)
                case .downMirrored: (lastRow, right, -down)
                case .leftMirrored: (0, down, right)
                case .right: (lastRow, -down, right)
                case .rightMirrored: (lastColumn + lastRow, -down, -right)
                case .left: (lastColumn, down, -right)
                }
        }
    }
}
