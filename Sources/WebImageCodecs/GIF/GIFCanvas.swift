// SPDX-License-Identifier: MIT

import CGIF
import Foundation
import WebImageCore

/// A GIF's canvas: frames are laid onto it one after the other.
struct GIFCanvas: ~Copyable {
    /// How a frame came out.
    struct Outcome {
        /// Every pixel of the frame's visible part was written.
        var isSolid: Bool
        /// What kept the frame from being whole; nil where it is.
        var failure: DecodeError?
    }

    private let pixels: PixelCanvas
    private var backup: PixelBuffer?

    /// A transparent canvas.
    ///
    /// - Throws: a ``LimitError``, ``DecodeError/outOfMemory(bytes:)``.
    init(size: PixelSize, context: CodingContext) throws(ImageError) {
        pixels = try PixelCanvas.forDecoding(size, zeroed: true, context: context)
    }

    /// Back to the beginning: everything transparent.
    mutating func clear() {
        pixels.clear()
        backup = nil
    }

    /// Draws `frame` of the file `data`. Damage costs pixels, not the canvas.
    ///
    /// - Throws: a ``LimitError`` for a frame beyond the limits, ``DecodeError/outOfMemory(bytes:)``.
    mutating func draw(_ frame: GIFFrame, of data: Data, context: CodingContext) throws(ImageError) -> Outcome {
        if frame.disposal == .previous { backup = try pixels.snapshot(isOpaque: false) }
        let area = try context.limits.check(size: frame.place.size)
        guard area > 0 else { return Outcome(isSolid: false, failure: nil) }
        let indices = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: area)
        defer { indices.deallocate() }
        var done = 0
        var status = WI_GIF_TRUNCATED
        let palette = try data.withBytes { (bytes) throws(ImageError) in
            if frame.dataOffset < bytes.count, let base = bytes.baseAddress {
                status = wi_gif_unpack(
                    base + frame.dataOffset + 1, bytes.count - frame.dataOffset - 1, UInt32(bytes[frame.dataOffset]),
                    indices.baseAddress, area, &done)
            }
            return frame.palette(in: bytes)
        }
        let isSolid = lay(UnsafeBufferPointer(indices), count: done, of: frame, palette: palette)
        return Outcome(isSolid: isSolid, failure: Self.failure(status, done, area, data.count))
    }

    /// What the file wants done to the canvas after `frame` was shown.
    mutating func dispose(_ frame: GIFFrame) {
        switch frame.disposal {
        case .keep:
            break
        case .background:
            // Browsers clear to transparent, whatever the file's background colour is.
            guard let part = frame.place.clamped(to: pixels.size) else { return }
            for row in part.y..<part.y + part.height {
                (pixels.row(row) + part.x * 4).update(repeating: 0, count: part.width * 4)
            }
        case .previous:
            restore()
        }
    }

    /// A copy of what is to be seen.
    borrowing func snapshot() throws(ImageError) -> PixelBuffer {
        try pixels.snapshot(isOpaque: pixels.isEveryPixelOpaque())
    }

    /// Ends drawing.
    consuming func finish() -> PixelBuffer {
        let isOpaque = pixels.isEveryPixelOpaque()
        return pixels.finish(isOpaque: isOpaque)
    }

    private mutating func restore() {
        guard let backup else { return }
        backup.withUnsafeBytes { bytes in
            guard let source = bytes.baseAddress else { return }
            pixels.baseAddress.copyMemory(from: source, byteCount: bytes.count)
        }
        self.backup = nil
    }

    private borrowing func lay(
        _ indices: UnsafeBufferPointer<UInt8>, count: Int, of frame: GIFFrame, palette: [UInt32]
    ) -> Bool {
        guard let part = frame.place.clamped(to: pixels.size) else { return false }
        var place = wi_gif_place(
            x: part.x, y: part.y, width: frame.place.width, height: frame.place.height, columns: part.width,
            rows: part.height, is_interlaced: frame.isInterlaced ? 1 : 0,
            transparent: frame.transparentIndex.map(Int32.init) ?? -1, colours: UInt32(frame.paletteCount))
        let drawn = wi_gif_draw(
            indices.baseAddress, count, palette, &place, pixels.row(0), pixels.bytesPerRow)
        return drawn == part.width * part.height
    }

    private static func failure(_ status: wi_gif_status, _ done: Int, _ area: Int, _ received: Int)
        -> DecodeError?
    {
        switch status {
        case WI_GIF_OK: nil
        case WI_GIF_TRUNCATED: .truncated(format: .gif, received: received, expected: nil)
        case WI_GIF_SHORT: .corrupt(format: .gif, reason: "a frame has \(done) of \(area) pixels")
        default: .corrupt(format: .gif, reason: "an LZW code that cannot be, after \(done) of \(area) pixels")
        }
    }
}

extension GIFFrame {
    /// 256 colours as R, G, B, 255 in memory order; beyond the stored ones, black that is never drawn.
    func palette(in bytes: UnsafeBufferPointer<UInt8>) -> [UInt32] {
        var colours = [UInt32](repeating: 0, count: 256)
        let stored = min(paletteCount, max(0, bytes.count - paletteOffset) / 3)
        for index in 0..<min(256, stored) {
            let at = paletteOffset + index * 3
            let colour =
                UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16 | 0xFF00_0000
            colours[index] = UInt32(littleEndian: colour)
        }
        return colours
    }
}
