// SPDX-License-Identifier: MIT

import CPixelKernels

/// Turns stored pixels upright.
public enum PixelOrienting {
    /// The picture as `orientation` says it is to be seen. ``Orientation/up`` returns the same buffer. Blocks; may
    /// be called on any thread.
    ///
    /// - Throws: a ``LimitError`` for a result that is too large, ``DecodeError/outOfMemory(bytes:)``, and what
    ///   ``CodingContext/checkpoint()`` throws.
    public static func upright(
        _ pixels: PixelBuffer, _ orientation: Orientation, context: CodingContext
    ) throws(ImageError) -> PixelBuffer {
        guard orientation != .up else { return pixels }
        let size = orientation.upright(pixels.size)
        try context.limits.check(result: size, format: pixels.format)
        let canvas = try PixelCanvas(size: size, format: pixels.format, zeroed: false)
        let walk = Walk(orientation, pixels)
        // A multiple of the kernel's tile, and no more than some milliseconds of work.
        let band = max(32, 1_000_000 / size.width / 32 * 32)
        for top in stride(from: 0, to: size.height, by: band) {
            try context.checkpoint()
            let rows = min(band, size.height - top)
            let out = (canvas.baseAddress + top * canvas.bytesPerRow).assumingMemoryBound(to: UInt8.self)
            pixels.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
                let origin = base + walk.origin + top * walk.stepY
                switch pixels.format {
                case .rgba8: wi_turn_32(origin, walk.stepX, walk.stepY, out, canvas.bytesPerRow, size.width, rows)
                case .rgba16: wi_turn_64(origin, walk.stepX, walk.stepY, out, canvas.bytesPerRow, size.width, rows)
                }
            }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: pixels.isOpaque)
    }

    /// Where the upright picture's first pixel is stored, and how many bytes lie between the stored pixels that
    /// are neighbours in it.
    private struct Walk {
        let origin: Int
        let stepX: Int
        let stepY: Int

        init(_ orientation: Orientation, _ pixels: PixelBuffer) {
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
