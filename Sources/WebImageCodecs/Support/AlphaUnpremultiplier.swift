// SPDX-License-Identifier: MIT

import CPixelKernels
import WebImageCore

/// Functions that undo the multiplication by alpha, for encoders. Premultiplying the result again restores the
/// original bytes. The rounding error is at most one half, times alpha ÷ 255, which is below one half unless alpha is
/// 255.
enum AlphaUnpremultiplier {
    /// Returns `count` rows of `pixels` from row `first` on, in the pixel format of `pixels` and without padding.
    /// Transparent pixels become 0, 0, 0, 0.
    static func rows(of pixels: PixelBuffer, from first: Int, count: Int) -> [UInt8] {
        let rowBytes = pixels.width * pixels.format.bytesPerPixel
        let kernels = pixels.format.kernels
        return [UInt8](unsafeUninitializedCapacity: rowBytes * count) { target, initialized in
            guard let start = target.baseAddress else { return }
            pixels.withUnsafeBytes { bytes in
                guard let source = bytes.baseAddress else { return }
                for row in 0..<count {
                    kernels.unpremultiply(
                        source + (first + row) * pixels.bytesPerRow, start + row * rowBytes, pixels.width)
                }
            }
            initialized = rowBytes * count
        }
    }
}
