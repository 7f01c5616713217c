// SPDX-License-Identifier: MIT

import WebImageCore

extension PixelBuffer {
    /// Returns the pixels of a region, which must lie within the image. If the region is the whole image, this method
    /// returns the buffer unchanged.
    func part(_ part: PixelRect, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        guard part.size != size, let inside = part.clamped(to: size) else { return self }
        let canvas = try PixelCanvas.forDecoding(inside.size, format: format, context: context)
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let pixel = format.bytesPerPixel
            for row in 0..<inside.height {
                let source = base + (inside.y + row) * bytesPerRow + inside.x * pixel
                UnsafeMutableRawPointer(canvas.row(row)).copyMemory(from: source, byteCount: inside.width * pixel)
            }
        }
        let isOpaque = isOpaque || canvas.isEveryPixelOpaque()
        return canvas.finish(isOpaque: isOpaque)
    }
}
