// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import WebImageCore

/// The frames of an animated PNG file that's complete or that's being received.
protocol APNGFrameSource: Sendable {
    /// Returns the position of a frame and the way it changes the canvas.
    func frame(at place: Int) -> APNGFrame?
    /// Returns a frame as a separate PNG file, for libpng. Throws an ``ImageError/DecodingFailure``.
    func still(at place: Int) throws(ImageError) -> [UInt8]
}

/// The frames of a complete file.
struct APNGFile: APNGFrameSource {
    let data: Data
    let index: APNGIndex

    func frame(at place: Int) -> APNGFrame? { index.frames[place] }

    func still(at place: Int) throws(ImageError) -> [UInt8] {
        try data.withBytes { (bytes) throws(ImageError) in
            try index.still(of: index.frames[place]) { range, file in file += bytes[range] }
        }
    }
}

/// A compositor that draws the frames of an animated PNG file onto its canvas.
///
/// It holds the source of the frames and one canvas. While a frame needs the previous canvas for its disposal, the
/// compositor also holds a copy of that canvas.
struct APNGCompositor: FrameCompositor, ~Copyable {
    private let source: any APNGFrameSource
    private let color: ColorConversion?
    private let pixels: PixelCanvas
    private var backup: PixelBuffer?

    /// Creates a compositor with a transparent canvas. Throws an ``ImageError/LimitFailure``, or
    /// ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    init(
        _ source: any APNGFrameSource, size: PixelSize, color: ColorConversion?, context: ImageProcessingContext
    ) throws(ImageError) {
        self.source = source
        self.color = color
        self.pixels = try PixelCanvas.forDecoding(size, zeroed: true, context: context)
    }

    mutating func clear() {
        pixels.clear()
        backup = nil
    }

    mutating func draw(_ place: Int, context: ImageProcessingContext) throws(ImageError) -> Bool {
        guard let frame = source.frame(at: place) else { return false }
        try frame.memory(onCanvas: pixels.size, restoresCanvas: frame.disposal == .previous).check(context.limits)
        let drawn = try Self.decode(try source.still(at: place), color: color, context: context)
        if frame.disposal == .previous { backup = try pixels.snapshot(isOpaque: false) }
        lay(drawn, at: frame.rect, isBlended: frame.isBlended && !drawn.isOpaque)
        return true
    }

    mutating func dispose(_ place: Int) {
        guard let frame = source.frame(at: place) else { return }
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

    /// Returns the premultiplied pixels of one frame, without the canvas. Throws an ``ImageError/DecodingFailure`` or
    /// an ``ImageError/LimitFailure``.
    private static func decode(
        _ file: [UInt8], color: ColorConversion?, context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let outcome = file.withUnsafeBufferPointer { file -> Result<PixelBuffer, ImageError> in
            do throws(ImageError) {
                let reader = try PNGReader(file, keepsPartial: false, context: context)
                let pixels = try reader.retrying { (reader) throws(ImageError) in
                    try reader.decode(allowsPartial: false, color: color).pixels
                }
                return .success(pixels)
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}

extension APNGFrame {
    func memory(onCanvas size: PixelSize, restoresCanvas: Bool) -> AnimationMemory {
        AnimationMemory(
            canvasSize: size, restoresCanvas: restoresCanvas, framePixels: rect.size.area ?? .max)
    }
}

extension APNGIndex {
    /// Returns a frame as a separate PNG file, for libpng. `append` appends the bytes of a range of the file to an
    /// array.
    func still(
        of frame: APNGFrame, append: (Range<Int>, inout [UInt8]) -> Void
    ) throws(ImageError) -> [UInt8] {
        let count = frame.parts.reduce(0) { $0 + $1.count }
        guard count <= 0x7FFF_FFFF else {
            throw .decoding(.unsupportedFeature(format: .apng, feature: "frames of more than 2 GiB"))
        }
        var writer = PNGChunkWriter(capacity: count + shared.reduce(64) { $0 + $1.count })
        writer.chunk(PNGChunks.header) { body in
            body.appendBig(UInt32(frame.rect.width))
            body.appendBig(UInt32(frame.rect.height))
            append(header.lowerBound + 8..<header.upperBound, &body)
        }
        for part in shared {
            var chunk: [UInt8] = []
            append(part, &chunk)
            writer.append(chunk)
        }
        writer.chunk(PNGChunks.data) { body in
            for part in frame.parts { append(part, &body) }
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
        let restoresCanvas = index.frames.contains { $0.disposal == .previous }
        for frame in index.frames {
            try frame.memory(onCanvas: index.canvasSize, restoresCanvas: restoresCanvas).check(context.limits)
        }
        try self.init(
            keyFrames: KeyframeIndex(index.steps(hasAlpha: hasAlpha), canvas: index.canvasSize),
            timeline: index.timeline,
            layout: layout, limits: context.limits,
            cost: data.count + index.frames.count * MemoryLayout<APNGFrame>.stride
                + index.canvasSize.width * index.canvasSize.height * (restoresCanvas ? 8 : 4)
        ) { [limits = context.limits] () throws(ImageError) in
            try APNGCompositor(
                APNGFile(data: data, index: index), size: index.canvasSize, color: color,
                context: ImageProcessingContext(limits: limits))
        }
    }
}
