// SPDX-License-Identifier: MIT

import CGIF
import WebImageCore

/// The colors of one or more frames. If the palette isn't full, the next index means "transparent".
struct GIFPalette {
    private var colors: wi_gif_palette

    /// Creates a palette with the exact colors of the pixels if there are at most `limit`. Otherwise, reduces the
    /// colors to `limit` with the median cut algorithm. The pixels are R, G, B, 255 in memory order, or 0 if they're
    /// transparent. The initializer returns `nil` if it can't allocate memory.
    init?(for pixels: [UInt32], limit: Int) {
        colors = wi_gif_palette()
        if wi_gif_palette_exact(pixels, pixels.count, UInt32(limit), &colors) != 0 { return }
        guard wi_gif_palette_cut(pixels, pixels.count, UInt32(limit), &colors) != 0 else { return nil }
    }

    var count: Int { Int(colors.count) }
    var hasTransparency: Bool { count < 256 }
    var transparentIndex: UInt8 { UInt8(truncatingIfNeeded: count) }
    /// The bits per index. Tables have 2, 4, … 256 entries.
    var bits: Int {
        let entries = min(256, count + 1)
        return max(1, Int.bitWidth - (entries - 1).leadingZeroBitCount)
    }

    /// Returns the indices of the pixels, or `nil` if the palette doesn't contain all of their colors.
    func exactIndices(of pixels: [UInt32]) -> [UInt8]? {
        indices(pixels.count) { target in
            withUnsafePointer(to: colors) {
                wi_gif_map_exact(pixels, pixels.count, $0, transparentIndex, target) != 0
            }
        }
    }

    /// Returns the indices of the nearest colors, or `nil` if memory can't be allocated.
    func nearestIndices(of pixels: [UInt32], _ size: PixelSize, dithers: Bool) -> [UInt8]? {
        indices(pixels.count) { target in
            withUnsafePointer(to: colors) {
                wi_gif_map_nearest(
                    pixels, size.width, size.height, $0, transparentIndex, dithers ? 1 : 0, target) != 0
            }
        }
    }

    /// The red, green, and blue of all entries. Unused entries are black.
    var table: [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: colors.colours) { stored in
            for place in 0..<count { bytes += stored[place * 4..<place * 4 + 3] }
        }
        return bytes + [UInt8](repeating: 0, count: 3 << bits - bytes.count)
    }

    private func indices(_ count: Int, _ fill: (UnsafeMutablePointer<UInt8>?) -> Bool) -> [UInt8]? {
        var isDone = false
        let indices = [UInt8](unsafeUninitializedCapacity: count) { target, written in
            isDone = fill(target.baseAddress)
            written = isDone ? count : 0
        }
        return isDone ? indices : nil
    }
}

/// A frame as palette indices.
struct GIFIndexedFrame {
    var indices: [UInt8]
    var palette: GIFPalette
    var usesSharedPalette: Bool
    /// Whether the transparent index occurs.
    var hasHoles: Bool
}
