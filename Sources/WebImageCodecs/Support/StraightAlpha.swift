// SPDX-License-Identifier: MIT

import WebImageCore

/// Undoes the multiplication by alpha, for encoders. Multiplying the result again gives the bytes it came from:
/// the rounding error is at most a half, times alpha ÷ 255, which is below a half unless alpha is 255.
enum StraightAlpha {
    /// Writes `count` pixels with colour and alpha apart; what is transparent becomes 0, 0, 0, 0.
    static func convert(_ source: UnsafePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, count: Int) {
        for pixel in 0..<count {
            let from = source + pixel * 4
            let to = target + pixel * 4
            let alpha = UInt32(from[3])
            to[3] = from[3]
            switch alpha {
            case 0:
                to[0] = 0
                to[1] = 0
                to[2] = 0
            case 255:
                to[0] = from[0]
                to[1] = from[1]
                to[2] = from[2]
            default:
                for channel in 0..<3 {
                    let value = (UInt32(from[channel]) * 255 + alpha / 2) / alpha
                    to[channel] = UInt8(min(255, value))
                }
            }
        }
    }

    /// Rows `first` and on of `pixels`, at most `count`, packed without padding.
    static func rows(of pixels: PixelBuffer, from first: Int, count: Int) -> [UInt8] {
        let rowBytes = pixels.width * 4
        return [UInt8](unsafeUninitializedCapacity: rowBytes * count) { target, initialized in
            guard let start = target.baseAddress else { return }
            pixels.withUnsafeBytes { bytes in
                guard let source = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
                for row in 0..<count {
                    convert(
                        source + (first + row) * pixels.bytesPerRow, into: start + row * rowBytes,
                        count: pixels.width)
                }
            }
            initialized = rowBytes * count
        }
    }
}
