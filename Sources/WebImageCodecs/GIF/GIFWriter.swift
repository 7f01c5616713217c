// SPDX-License-Identifier: MIT

import CGIF
import Foundation
import WebImageCore

/// An encoder for still images and animations in the format GIF89a.
///
/// Each frame contains only the region that differs from the canvas, and unchanged pixels in it are transparent. If
/// pixels become transparent in the next frame, the disposal of the current frame clears them. The encoder holds three
/// canvases in memory.
struct GIFWriter {
    /// The maximum width and height, because the format stores sizes in 16 bits.
    static let maxDimension = 65_535

    private let frames: EncodableFrames
    private let dithers: Bool
    private let context: ImageProcessingContext
    private var stream: GIFBlockWriter

    static func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        let frames = try EncodableFrames(image, as: encoding, maxDimension: maxDimension, context: context)
        var writer = GIFWriter(frames: frames, dithers: encoding.usesDithering, context: context)
        try writer.write()
        return Data(writer.stream.bytes)
    }

    private init(frames: EncodableFrames, dithers: Bool, context: ImageProcessingContext) {
        self.frames = frames
        self.dithers = dithers
        self.context = context
        self.stream = GIFBlockWriter(size: frames.size)
    }

    private mutating func write() throws(ImageError) {
        var clock = GIFDelayRounder()
        var before = [UInt32](repeating: 0, count: frames.size.width * frames.size.height)
        var current = try colors(at: 0)
        for place in 0..<frames.count {
            let next = place + 1 < frames.count ? try colors(at: place + 1) : nil
            let vanishing = next.map { part(current, $0) { $0 != 0 && $1 == 0 } } ?? ChangedRegion()
            var changed = place == 0 ? ChangedRegion() : part(before, current) { $0 != $1 }
            if place == 0 { changed.add(row: 0, 0, frames.size.width - 1) }
            if place == 0 { changed.add(row: frames.size.height - 1, 0, 0) }
            changed.add(vanishing)
            // A frame without changes must still be written to preserve its duration.
            let rect = changed.rect ?? PixelRect(x: 0, y: 0, width: 1, height: 1)
            let isCleared = vanishing.rect != nil
            let picture = try palettized(differences(before, current, rect), rect.size, isFirst: place == 0)
            if place == 0 { stream.start(picture.palette, loopCount: frames.isAnimation ? frames.loopCount : 1) }
            stream.append(
                picture, at: rect, disposal: frames.isAnimation ? (isCleared ? .background : .keep) : nil,
                hundredths: frames.isAnimation ? clock.hundredths(frames.durations[place]) : 0)
            before = current
            if isCleared { clear(rect, of: &before) }
            if let next { current = next }
        }
        stream.finish()
    }

    /// Returns one frame as opaque colors. Pixels with less than half opacity are 0.
    private func colors(at place: Int) throws(ImageError) -> [UInt32] {
        let pixels = try frames.pixels(at: place)
        let width = frames.size.width
        return [UInt32](unsafeUninitializedCapacity: width * frames.size.height) { target, count in
            guard let start = target.baseAddress else { return }
            for row in stride(from: 0, to: frames.size.height, by: rowsPerCheckpoint) {
                let rows = min(rowsPerCheckpoint, frames.size.height - row)
                let straight = AlphaUnpremultiplier.rows(of: pixels, from: row, count: rows)
                wi_gif_threshold(straight, rows * width, start + row * width)
            }
            count = width * frames.size.height
        }
    }

    private func part(_ before: [UInt32], _ after: [UInt32], differs: (UInt32, UInt32) -> Bool) -> ChangedRegion {
        before.withUnsafeBufferPointer { before in
            after.withUnsafeBufferPointer { after in
                guard let old = before.baseAddress, let new = after.baseAddress else { return ChangedRegion() }
                return changedPart(old, new, stride: frames.size.width, size: frames.size, differs: differs)
            }
        }
    }

    /// Returns the pixels of `rect`. Pixels that are already on the canvas are 0.
    private func differences(_ before: [UInt32], _ current: [UInt32], _ rect: PixelRect) -> [UInt32] {
        var drawn: [UInt32] = []
        drawn.reserveCapacity(rect.width * rect.height)
        for row in rect.y..<rect.y + rect.height {
            let start = row * frames.size.width + rect.x
            for place in start..<start + rect.width {
                drawn.append(before[place] == current[place] ? 0 : current[place])
            }
        }
        return drawn
    }

    private func clear(_ rect: PixelRect, of canvas: inout [UInt32]) {
        for row in rect.y..<rect.y + rect.height {
            let start = row * frames.size.width + rect.x
            for place in start..<start + rect.width { canvas[place] = 0 }
        }
    }

    /// Returns a frame that uses the palette of the first frame if it contains all colors. Otherwise, the frame gets a
    /// local palette.
    private func palettized(_ pixels: [UInt32], _ size: PixelSize, isFirst: Bool) throws(ImageError) -> GIFIndexedFrame
    {
        try context.checkCancellation()
        let hasHoles = pixels.contains(0)
        if !isFirst, let shared = stream.shared, !hasHoles || shared.hasTransparency,
            let indices = shared.exactIndices(of: pixels)
        {
            return GIFIndexedFrame(indices: indices, palette: shared, usesSharedPalette: true, hasHoles: hasHoles)
        }
        // Later frames may need a transparent index in the palette of the first frame.
        let limit = hasHoles || frames.isAnimation ? 255 : 256
        guard let palette = GIFPalette(for: pixels, limit: limit),
            let indices = palette.exactIndices(of: pixels)
                ?? palette.nearestIndices(of: pixels, size, dithers: dithers)
        else { throw .decoding(.outOfMemory(byteCount: pixels.count * 4)) }
        return GIFIndexedFrame(indices: indices, palette: palette, usesSharedPalette: isFirst, hasHoles: hasHoles)
    }
}

/// A converter from milliseconds to hundredths of a second. It carries the rounding error over to the next frame.
struct GIFDelayRounder {
    private var milliseconds = 0
    private var written = 0

    mutating func hundredths(_ duration: Int) -> Int {
        milliseconds += min(duration, 655_350)
        // For delays below two hundredths, viewers use a tenth of a second instead.
        let value = min(65_535, max(2, (milliseconds + 5) / 10 - written))
        written += value
        return value
    }
}
