// SPDX-License-Identifier: MIT

import CGIF
import WebImageCore

/// The colours of one or more frames, and behind them an index for "transparent" where there is room.
struct GIFPalette {
    private var colours: wi_gif_palette

    /// The pixels' own colours where they are at most `limit`, otherwise so many by median cut; nil without memory.
    ///
    /// - Parameter pixels: R, G, B, 255 in memory order, or 0.
    init?(for pixels: [UInt32], limit: Int) {
        colours = wi_gif_palette()
        if wi_gif_palette_exact(pixels, pixels.count, UInt32(limit), &colours) != 0 { return }
        guard wi_gif_palette_cut(pixels, pixels.count, UInt32(limit), &colours) != 0 else { return nil }
    }

    var count: Int { Int(colours.count) }
    var hasTransparency: Bool { count < 256 }
    var transparentIndex: UInt8 { UInt8(truncatingIfNeeded: count) }
    /// Tables have 2, 4, … 256 entries.
    var bits: Int {
        let entries = min(256, count + 1)
        return max(1, Int.bitWidth - (entries - 1).leadingZeroBitCount)
    }

    /// Nil where a colour is not in the palette.
    func exactIndices(of pixels: [UInt32]) -> [UInt8]? {
        indices(pixels.count) { target in
            withUnsafePointer(to: colours) {
                wi_gif_map_exact(pixels, pixels.count, $0, transparentIndex, target) != 0
            }
        }
    }

    /// Nil without memory.
    func nearestIndices(of pixels: [UInt32], _ size: PixelSize, dithers: Bool) -> [UInt8]? {
        indices(pixels.count) { target in
            withUnsafePointer(to: colours) {
                wi_gif_map_nearest(
                    pixels, size.width, size.height, $0, transparentIndex, dithers ? 1 : 0, target) != 0
            }
        }
    }

    /// Red, green and blue of all entries; those that no colour takes are black.
    var table: [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: colours.colours) { stored in
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

/// One frame in indices.
struct GIFPicture {
    var indices: [UInt8]
    var palette: GIFPalette
    var usesSharedPalette: Bool
    /// Whether the transparent index occurs.
    var hasHoles: Bool
}
