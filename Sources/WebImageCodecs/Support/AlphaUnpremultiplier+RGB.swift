// SPDX-License-Identifier: MIT

import WebImageCore

extension AlphaUnpremultiplier {
    /// Returns all pixels without padding. The result contains red, green, and blue, and also alpha if `channels` is
    /// 4. If `channels` is 3, the pixels must be opaque.
    static func packed(_ pixels: PixelBuffer, channels: Int) -> [UInt8] {
        packed(rows(of: pixels, from: 0, count: pixels.height), channels: channels)
    }

    /// Returns the pixels of a region, which must lie within the image, like ``packed(_:channels:)``.
    static func packed(_ pixels: PixelBuffer, _ part: PixelRect, channels: Int) -> [UInt8] {
        packed(pixels.straight(part), channels: channels)
    }

    private static func packed(_ rows: [UInt8], channels: Int) -> [UInt8] {
        guard channels == 3 else { return rows }
        return [UInt8](unsafeUninitializedCapacity: rows.count / 4 * 3) { target, count in
            for pixel in 0..<rows.count / 4 {
                for channel in 0..<3 { target[pixel * 3 + channel] = rows[pixel * 4 + channel] }
            }
            count = rows.count / 4 * 3
        }
    }
}
