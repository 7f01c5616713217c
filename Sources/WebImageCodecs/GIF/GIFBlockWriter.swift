// SPDX-License-Identifier: MIT

import CGIF
import WebImageCore

/// A writer for the blocks of a GIF file (GIF89a, sections 17 to 27).
struct GIFBlockWriter {
    private(set) var bytes: [UInt8] = Array("GIF89a".utf8)
    /// The global palette, for frames without a local palette.
    private(set) var shared: GIFPalette?
    private let size: PixelSize

    /// The size of the canvas is at most 65,535 pixels per side.
    init(size: PixelSize) { self.size = size }

    /// Writes the logical screen, the global palette, and the looping extension unless the animation plays once.
    mutating func start(_ palette: GIFPalette, loopCount: Int) {
        shared = palette
        put16(size.width)
        put16(size.height)
        bytes += [0xF0 | UInt8(palette.bits - 1), 0, 0]
        bytes += palette.table
        guard let repetitions = GIFLoopCount.stored(plays: loopCount) else { return }
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1]
        put16(repetitions)
        bytes.append(0)
    }

    /// Appends a frame at `place`. The disposal is `nil` for a still image. The duration of the frame is in hundredths
    /// of a second.
    mutating func append(_ picture: GIFIndexedFrame, at place: PixelRect, disposal: FrameDisposal?, hundredths: Int) {
        if disposal != nil || picture.hasHoles {
            let method: UInt8 = disposal == .background ? 2 : disposal == .keep ? 1 : 0
            bytes += [0x21, 0xF9, 4, method << 2 | (picture.hasHoles ? 1 : 0)]
            put16(hundredths)
            bytes += [picture.hasHoles ? picture.palette.transparentIndex : 0, 0]
        }
        bytes.append(0x2C)
        for value in [place.x, place.y, place.width, place.height] { put16(value) }
        bytes.append(picture.usesSharedPalette ? 0 : 0x80 | UInt8(picture.palette.bits - 1))
        if !picture.usesSharedPalette { bytes += picture.palette.table }
        let codeSize = max(2, picture.palette.bits)
        bytes.append(UInt8(codeSize))
        let bound = wi_gif_pack_bound(picture.indices.count)
        bytes += [UInt8](unsafeUninitializedCapacity: bound) { target, count in
            count = wi_gif_pack(
                picture.indices, picture.indices.count, UInt32(codeSize), target.baseAddress, bound)
        }
    }

    mutating func finish() { bytes.append(0x3B) }

    private mutating func put16(_ value: Int) {
        bytes += [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }
}
