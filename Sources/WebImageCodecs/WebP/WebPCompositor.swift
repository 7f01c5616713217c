// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// A compositor that draws the frames of an animated WebP file that's being received onto its canvas.
///
/// The compositor of libwebp requires a complete file. This compositor performs the same steps, so it produces the same
/// pixels. Its canvas has straight alpha.
struct WebPCompositor: FrameCompositor, ~Copyable {
    private let file: ReceivedAnimation<WebPScanner>
    private let color: ColorConversion?
    private let pixels: PixelCanvas
    private let limits: ImageLimits

    /// Creates a compositor with a transparent canvas. Throws an ``ImageError/LimitFailure``, or
    /// ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    init(
        _ file: ReceivedAnimation<WebPScanner>, size: PixelSize, color: ColorConversion?,
        context: ImageProcessingContext
    ) throws(ImageError) {
        self.file = file
        self.color = color
        limits = context.limits
        try AnimationMemory(canvasSize: size).check(limits)
        pixels = try PixelCanvas.forDecoding(size, zeroed: true, context: context)
    }

    mutating func clear() { pixels.clear() }

    mutating func draw(_ place: Int, context: ImageProcessingContext) throws(ImageError) -> Bool {
        let (frame, previous, data) = try file.read { scanner, data in
            let frame = scanner.frame(at: place)
            return (frame, place > 0 ? scanner.frame(at: place - 1) : nil, data.bytes(frame.bitstream) ?? Data())
        }
        try data.withBytes { (bytes) throws(ImageError) in
            guard frame.isBlended, !frame.isKeyFrame else {
                return try Self.decode(bytes, frame, into: pixels, x: frame.rect.x, y: frame.rect.y, context)
            }
            try AnimationMemory(canvasSize: pixels.size, framePixels: frame.rect.size.area ?? .max).check(limits)
            let part = try PixelCanvas.forDecoding(frame.rect.size, context: context)
            try Self.decode(bytes, frame, into: part, x: 0, y: 0, context)
            let cleared = previous?.disposal == .background ? previous?.rect : nil
            for row in 0..<frame.rect.height { Self.blend(row, of: part, frame.rect, cleared, onto: pixels) }
        }
        return true
    }

    mutating func dispose(_ place: Int) {
        guard let frame = try? file.read({ scanner, _ in scanner.frame(at: place) }), frame.disposal == .background
        else { return }
        for row in frame.rect.y..<frame.rect.y + frame.rect.height {
            (pixels.row(row) + frame.rect.x * 4).update(repeating: 0, count: frame.rect.width * 4)
        }
    }

    borrowing func snapshot() throws(ImageError) -> PixelBuffer {
        let copy = try PixelCanvas.forDecoding(pixels.size, context: ImageProcessingContext(limits: limits))
        copy.baseAddress.copyMemory(from: pixels.baseAddress, byteCount: pixels.byteCount)
        color?.convert(copy, rows: 0..<copy.size.height)
        let isOpaque = copy.isEveryPixelOpaque()
        if !isOpaque { copy.premultiply(rows: 0..<copy.size.height) }
        return copy.finish(isOpaque: isOpaque)
    }

    private static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, _ frame: WebPFrame, into canvas: borrowing PixelCanvas, x: Int, y: Int,
        _ context: ImageProcessingContext
    ) throws(ImageError) {
        _ = try WebPBitmapDecoder.decode(
            bytes, into: canvas, x: x, y: y, size: frame.rect.size, isScaled: false, allowsPartial: false,
            context: context)
    }

    /// Draws a row of a frame onto the canvas. In the region `cleared` of the previous frame, where the canvas is
    /// empty, the pixels replace the canvas, because blending would round them.
    private static func blend(
        _ row: Int, of part: borrowing PixelCanvas, _ rect: PixelRect, _ cleared: PixelRect?,
        onto canvas: borrowing PixelCanvas
    ) {
        let source = part.row(row)
        let target = canvas.row(rect.y + row) + rect.x * 4
        var (first, last) = (0, 0)
        if let cleared, (cleared.y..<cleared.y + cleared.height).contains(rect.y + row) {
            first = min(rect.width, max(0, cleared.x - rect.x))
            last = min(rect.width, max(first, cleared.x + cleared.width - rect.x))
        }
        wi_webp_blend(target, source, first)
        (target + first * 4).update(from: source + first * 4, count: (last - first) * 4)
        wi_webp_blend(target + last * 4, source + last * 4, rect.width - last)
    }
}
