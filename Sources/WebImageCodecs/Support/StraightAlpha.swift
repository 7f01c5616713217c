// SPDX-License-Identifier: MIT

import CPixelKernels
import WebImageCore

/// Undoes the multiplication by alpha, for encoders. Multiplying the result again gives the bytes it came from:
/// the rounding error is at most a half, times alpha ÷ 255, which is below a half unless alpha is 255.
enum StraightAlpha {
    /// Rows `first` and on of `pixels`, at most `count`, packed without padding; what is transparent becomes 0, 0, 0, 0.
    static func rows(of pixels: PixelBuffer, from first: Int, count: Int) -> [UInt8] {
        let rowBytes = pixels.width * 4
        return [UInt8](unsafeUninitializedCapacity: rowBytes * count) { target, initialized in
            guard let start = target.baseAddress else { return }
            pixels.withUnsafeBytes { bytes in
                guard let source = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
                for row in 0..<count {
                    wi_unpremultiply_rgba8(
                        source + (first + row) * pixels.bytesPerRow, start + row * rowBytes, pixels.width)
                }
            }
            initialized = rowBytes * count
        }
    }
}
