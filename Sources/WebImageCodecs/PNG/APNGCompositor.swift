// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import WebImageCore

/// A compositor that draws the frames of an animated PNG file onto its canvas.
///
/// It holds the encoded data, the index of the frames, and one canvas. While a frame needs the previous canvas for its
/// disposal, the compositor also holds a copy of that canvas.
struct APNGCompositor: FrameCompositor, ~Copyable {
    private let data: Data
    private let index: APNGIndex
    private let color: ColorConversion?
    private let pixels: PixelCanvas
    private var backup: PixelBuffer?

    /// Creates a compositor with a transparent canvas.
    ///
    /// - Parameters:
    ///   - data: The file.
    ///   - index: The index of the frames.
    ///   - color: The color conversion to apply to each frame.
    ///   - context: The limits, the deadline, and the cancellation of the operation.
    /// - Throws: An ``ImageError/LimitFailure``, or ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    init(_ data: Data, index: APNGIndex, color: ColorConversion?, context: ImageProcessingContext) throws(ImageError) {
        self.data = data
        self.index = index
        self.color = color
        self.pixels = try PixelCanvas.forDecoding(index.canvasSize, zeroed: true, context: context)
    }

    mutating func clear() {
        pixels.clear()
        backup = nil
    }

    mutating func draw(_ place: Int, context: ImageProcessingContext) throws(ImageError) -> Bool {
        let frame = index.frames[place]
        let drawn = try data.withBytes { [index, color] (bytes) throws(ImageError) in
            try index.decode(frame, in: bytes, color: color, context: context)
        }
        if frame.disposal == .previous { backup = try pixels.snapshot(isOpaque: false) }
        lay(drawn, at: frame.rect, isBlended: frame.isBlended && !drawn.isOpaque)
        return true
    }

    mutating func dispose(_ place: Int) {
        let frame = index.frames[place]
        switch frame.disposal {
        case .keep: break
        case .background: clear(frame.rect)
        case .previous: restore()
        }
    }

    borrowing func snapshot() throws(ImageError) -> PixelBuffer {
        try pixels.snapshot(isOpaque: pixels.isEveryPixelOpaque())
    }

    private borrowing func lay(_ drawn: PixelBuffer, at place: PixelRect, isBlended: Bool) {
        drawn.withUnsafeBytes { bytes in
            guard let source = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
            for row in 0..<place.height {
                let target = pixels.row(place.y + row) + place.x * 4
                let line = source + row * drawn.bytesPerRow
                if isBlended {
                    wi_png_blend_over(target, line, place.width)
                } else {
                    target.update(from: line, count: place.width * 4)
                }
            }
        }
    }

    private borrowing func clear(_ place: PixelRect) {
        for row in place.y..<place.y + place.height {
            (pixels.row(row) + place.x * 4).update(repeating: 0, count: place.width * 4)
        }
    }

    private mutating func restore() {
        guard let backup else { return }
        backup.withUnsafeBytes { bytes in
            guard let source = bytes.baseAddress else { return }
            pixels.baseAddress.copyMemory(from: source, byteCount: bytes.count)
        }
        self.backup = nil
    }
}

extension APNGIndex {
    /// Returns the premultiplied pixels of one frame, without the canvas.
    ///
    /// - Throws: An ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
    fileprivate func decode(
        _ frame: APNGFrame, in bytes: UnsafeBufferPointer<UInt8>, color: ColorConversion?,
        context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let file = try still(of: frame, in: bytes)
        let outcome = file.withUnsafeBufferPointer { file -> Result<PixelBuffer, ImageError> in
            do throws(ImageError) {
                let reader = try PNGReader(file, keepsPartial: false, context: context)
                return .success(try reader.decode(allowsPartial: false, color: color).pixels)
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// Returns the frame as a separate PNG file, for libpng.
    private func still(of frame: APNGFrame, in bytes: UnsafeBufferPointer<UInt8>) throws(ImageError) -> [UInt8] {
        let count = frame.parts.reduce(0) { $0 + $1.count }
        guard count <= 0x7FFF_FFFF else {
            throw .decoding(.unsupportedFeature(format: .apng, feature: "frames of more than 2 GiB"))
        }
        var writer = PNGChunkWriter(capacity: count + shared.reduce(64) { $0 + $1.count })
        writer.chunk(PNGChunks.header) { body in
            body.appendBig(UInt32(frame.rect.width))
            body.appendBig(UInt32(frame.rect.height))
            body += bytes[header.lowerBound + 8..<header.upperBound]
        }
        for part in shared { writer.append(bytes[part]) }
        writer.chunk(PNGChunks.data) { body in
            for part in frame.parts { body += bytes[part] }
        }
        writer.chunk(PNGChunks.end)
        return writer.bytes
    }
}

typealias APNGAnimationDecoder = CompositingDecoder<APNGCompositor>

extension CompositingDecoder where Compositor == APNGCompositor {
    convenience init(
        _ data: Data, index: APNGIndex, hasAlpha: Bool, color: ColorConversion?, layout: DecodeLayout,
        context: ImageProcessingContext
    ) throws(ImageError) {
        try self.init(
            keyFrames: KeyframeIndex(index.steps(hasAlpha: hasAlpha), canvas: index.canvasSize),
            timeline: index.timeline,
            layout: layout, limits: context.limits,
            cost: data.count + index.frames.count * MemoryLayout<APNGFrame>.stride
                + index.canvasSize.width * index.canvasSize.height * 4
        ) { [limits = context.limits] () throws(ImageError) in
            try APNGCompositor(data, index: index, color: color, context: ImageProcessingContext(limits: limits))
        }
    }
}
