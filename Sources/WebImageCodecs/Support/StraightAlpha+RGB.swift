// SPDX-License-Identifier: MIT

import WebImageCore

extension StraightAlpha {
    /// All pixels without padding: red, green and blue of opaque ones, and alpha where `channels` is 4.
    static func packed(_ pixels: PixelBuffer, channels: Int) -> [UInt8] {
        let rows = rows(of: pixels, from: 0, count: pixels.height)
        guard channels == 3 else { return rows }
        return [UInt8](unsafeUninitializedCapacity: rows.count / 4 * 3) { target, count in
            for pixel in 0..<rows.count / 4 {
                for channel in 0..<3 { target[pixel * 3 + channel] = rows[pixel * 4 + channel] }
            }
            count = rows.count / 4 * 3
        }
    }
}
