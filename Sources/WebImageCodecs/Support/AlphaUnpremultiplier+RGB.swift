// SPDX-License-Identifier: MIT

import WebImageCore

extension AlphaUnpremultiplier {
    /// Returns all pixels without padding. The result contains red, green, and blue, and also alpha if `channels` is
    /// 4. If `channels` is 3, the pixels must be opaque.
    static func packed(_ pixels: PixelBuffer, channels: Int) -> [UInt8] {
        packed(rows(of: pixels, from: 0, count: pixels.height), channels: channels, pixels.format.layout)
    }

    /// Returns the pixels of a region, which must lie within the image, like ``packed(_:channels:)``.
    static func packed(_ pixels: PixelBuffer, _ part: PixelRect, channels: Int) -> [UInt8] {
        packed(pixels.straight(part), channels: channels, pixels.format.layout)
    }

    private static func packed(_ rows: [UInt8], channels: Int, _ layout: PixelLayout) -> [UInt8] {
        guard channels == 3 else { return rows }
        return layout.isWide ? withoutAlpha(rows, of: UInt16.self) : withoutAlpha(rows, of: UInt8.self)
    }

    /// Returns pixels without their fourth sample.
    private static func withoutAlpha<Sample>(_ rows: [UInt8], of type: Sample.Type) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: rows.count / 4 * 3) { target, count in
            rows.withUnsafeBytes { bytes in
                let from = bytes.bindMemory(to: type)
                let to = UnsafeMutableRawBufferPointer(target).bindMemory(to: type)
                for pixel in 0..<from.count / 4 {
                    for channel in 0..<3 { to[pixel * 3 + channel] = from[pixel * 4 + channel] }
                }
            }
            count = rows.count / 4 * 3
        }
    }
}
