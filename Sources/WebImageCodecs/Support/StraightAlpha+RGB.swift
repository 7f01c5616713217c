// SPDX-License-Identifier: MIT

import WebImageCore

extension StraightAlpha {
    /// All pixels without padding: red, green and blue of opaque ones, and alpha where `channels` is 4.
    static func packed(_ pixels: PixelBuffer, channels: Int) -> [UInt8] {
        packed(rows(of: pixels, from: 0, count: pixels.height), channels: channels)
    }

    /// As ``packed(_:channels:)``, of a part that lies within the picture.
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
