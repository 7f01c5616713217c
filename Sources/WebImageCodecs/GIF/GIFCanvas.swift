// SPDX-License-Identifier: MIT

import CGIF
import Foundation
import WebImageCore

/// The canvas of a GIF file, onto which frames are drawn one after the other.
struct GIFCanvas: ~Copyable {
    /// The result of drawing a frame.
    struct Outcome {
        /// Whether every pixel of the frame's visible region was written.
        var isSolid: Bool
        /// The error that left the frame incomplete, or `nil` if the frame is complete.
        var failure: ImageError.DecodingFailure?
    }

    private let pixels: PixelCanvas
    private var backup: PixelBuffer?

    /// Creates a transparent canvas. Throws an ``ImageError/LimitFailure``, or
    /// ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    init(size: PixelSize, context: ImageProcessingContext) throws(ImageError) {
        pixels = try PixelCanvas.forDecoding(size, zeroed: true, context: context)
    }

    mutating func clear() {
        pixels.clear()
        backup = nil
    }

    /// Draws `frame` from the whole file or from the data of the frame. Corrupt data leaves pixels of the frame
    /// missing, but the canvas stays usable. If no other frame follows, the canvas isn't restored. Throws an
    /// ``ImageError/LimitFailure`` if the frame exceeds the limits, or
    /// ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    mutating func draw(
        _ frame: GIFFrame, of data: Data, isStill: Bool = false, context: ImageProcessingContext
    ) throws(ImageError) -> Outcome {
        if !isStill {
            try frame.memory(onCanvas: pixels.size, restoresCanvas: frame.disposal == .previous).check(context.limits)
        }
        if frame.disposal == .previous, !isStill { backup = try pixels.snapshot(isOpaque: false) }
        let area = try context.limits.checkedArea(of: frame.rect.size)
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

    mutating func dispose(_ frame: GIFFrame) {
        switch frame.disposal {
        case .keep:
            break
        case .background:
            // Browsers clear to transparent, regardless of the background color of the file.
            guard let part = frame.rect.clamped(to: pixels.size) else { return }
            for row in part.y..<part.y + part.height {
                (pixels.row(row) + part.x * 4).update(repeating: 0, count: part.width * 4)
            }
        case .previous:
            restore()
        }
    }

    borrowing func snapshot() throws(ImageError) -> PixelBuffer {
        try pixels.snapshot(isOpaque: pixels.isEveryPixelOpaque())
    }

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
        guard let part = frame.rect.clamped(to: pixels.size) else { return false }
        var place = wi_gif_place(
            x: part.x, y: part.y, width: frame.rect.width, height: frame.rect.height, columns: part.width,
            rows: part.height, is_interlaced: frame.isInterlaced ? 1 : 0,
            transparent: frame.transparentIndex.map(Int32.init) ?? -1, colours: UInt32(frame.paletteCount))
        let drawn = wi_gif_draw(
            indices.baseAddress, count, palette, &place, pixels.row(0), pixels.bytesPerRow)
        return drawn == part.width * part.height
    }

    private static func failure(_ status: wi_gif_status, _ done: Int, _ area: Int, _ received: Int)
        -> ImageError.DecodingFailure?
    {
        switch status {
        case WI_GIF_OK: nil
        case WI_GIF_TRUNCATED: .truncated(format: .gif, receivedBytes: received, expectedBytes: nil)
        case WI_GIF_SHORT: .corrupted(format: .gif, reason: "a frame has only \(done) of \(area) pixels")
        default: .corrupted(format: .gif, reason: "invalid LZW code after \(done) of \(area) pixels")
        }
    }
}

extension GIFFrame {
    /// Returns the memory for drawing this frame of an animation. Each pixel of the frame is the index of a color.
    func memory(onCanvas size: PixelSize, restoresCanvas: Bool) -> AnimationMemory {
        AnimationMemory(
            canvasSize: size, restoresCanvas: restoresCanvas, framePixels: rect.size.area ?? .max, bytesPerFramePixel: 1
        )
    }

    /// Returns 256 colors as R, G, B, 255 in memory order. The entries past the end of the stored palette are 0 and
    /// are never drawn.
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
