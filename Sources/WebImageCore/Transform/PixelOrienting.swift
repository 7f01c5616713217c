// SPDX-License-Identifier: MIT

/// Temporary stand-in.
public enum PixelOrienting {
    /// Turns.
    public static func upright(
        _ pixels: PixelBuffer, _ orientation: Orientation, context: CodingContext
    ) throws(ImageError) -> PixelBuffer {
        if orientation == .up { return pixels }
        let raw = pixels.size
        let canvas = try PixelCanvas(size: orientation.upright(raw))
        pixels.withUnsafeBytes { source in
            canvas.withUnsafeMutableBytes { target in
                for y in 0..<canvas.size.height {
                    for x in 0..<canvas.size.width {
                        let (sx, sy) =
                            switch orientation {
                            case .up: (x, y)
                            case .upMirrored: (raw.width - 1 - x, y)
                            case .down: (raw.width - 1 - x, raw.height - 1 - y)
                            case .downMirrored: (x, raw.height - 1 - y)
                            case .leftMirrored: (y, x)
                            case .right: (y, raw.height - 1 - x)
                            case .rightMirrored: (raw.width - 1 - y, raw.height - 1 - x)
                            case .left: (raw.width - 1 - y, x)
                            }
                        for c in 0..<4 {
                            target[y * canvas.bytesPerRow + x * 4 + c] = source[sy * pixels.bytesPerRow + sx * 4 + c]
                        }
                    }
                }
            }
        }
        return canvas.finish(isOpaque: pixels.isOpaque)
    }
}
