// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// One format's decoder that is fed piece by piece.
protocol PixelStream: ~Copyable {
    /// Takes the next bytes; `bytes` is valid during the call only and may be empty where `isLast`.
    ///
    /// - Throws: family 4xxx, ``DecodeError/truncated(format:received:expected:)`` where `isLast` and pixels are missing.
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: CodingContext) throws(ImageError)

    /// What is to be seen of the stored picture; nil where nothing is.
    mutating func picture(context: CodingContext) throws(ImageError) -> StreamPicture?
}

/// What a stream has so far.
struct StreamPicture {
    /// The stored picture, perhaps already shrunk by the decoder.
    var pixels: PixelBuffer
    /// Width and height of the picture in pixels of `pixels` where those are not the buffer's own.
    var extent: (width: Double, height: Double)?
    /// Rows of the stored picture that are covered.
    var rows: Int
    var passes = 0
    var passCount: Int? = 1
    var fraction: Double
    var isComplete: Bool
    var depth = 8
    var hasAlpha = false
    var iccProfile: [UInt8]?
    var codePoints: ColorCodePoints?
    /// The way to sRGB that the pixels are yet to go.
    var color: ColorConversion?
}

/// A progressive decoder out of a format's stream: brings what it gives to the asked size and upright, and keeps its
/// failure.
final class StreamDecoder<Stream: PixelStream & ~Copyable>: ProgressiveDecoder {
    private let probe: ImageProbe
    private let options: DecodeOptions
    private let layout: DecodeLayout
    private let state: Lock<State>

    private struct State: ~Copyable {
        var stream: Stream
        var received = 0
        /// What had come when the last preview was made.
        var shown = 0
        var isOver = false
        var failure: ImageError?

        /// Grows with every byte and with the end.
        var progress: Int { received + (isOver ? 1 : 0) }
    }

    init(_ stream: consuming sending Stream, probe: ImageProbe, options: DecodeOptions, layout: DecodeLayout) {
        self.probe = probe
        self.options = options
        self.layout = layout
        self.state = Lock(State(stream: stream))
    }

    func append(_ bytes: Data, isLast: Bool, context: CodingContext) throws(ImageError) {
        try state.withLock { (state) throws(ImageError) in
            if let failure = state.failure { throw failure }
            guard !state.isOver else { return }
            state.received += bytes.count
            state.isOver = isLast
            do throws(ImageError) {
                try context.limits.check(encodedBytes: state.received)
                try context.checkpoint()
                try bytes.withPossiblyNoBytes { (bytes) throws(ImageError) in
                    try state.stream.append(bytes, isLast: isLast, context: context)
                }
            } catch {
                state.failure = error
                throw error
            }
        }
    }

    func preview(context: CodingContext) throws(ImageError) -> Preview? {
        let picture = try state.withLock { (state) throws(ImageError) -> StreamPicture? in
            if let failure = state.failure { throw failure }
            guard state.progress > state.shown else { return nil }
            guard let picture = try state.stream.picture(context: context) else { return nil }
            state.shown = state.progress
            return picture
        }
        return try picture.map { (picture) throws(ImageError) in try preview(of: picture, context) }
    }

    private func preview(of picture: StreamPicture, _ context: CodingContext) throws(ImageError) -> Preview {
        let color = options.conversion(picture.color)
        let convertsLast = layout.convertsLast(color)
        var stored = picture.pixels
        if let color, !convertsLast { stored = try color.converted(stored, context: context) }
        let pixels = try layout.finish(
            stored, extent: picture.extent, color: convertsLast ? color : nil, context: context)
        let metadata = ImageMetadata(
            rawSize: layout.rawSize, orientation: layout.orientation, depth: picture.depth, hasAlpha: picture.hasAlpha,
            isPartial: !picture.isComplete, iccProfile: picture.iccProfile,
            codePoints: picture.codePoints)
        let image = Image(pixels: pixels, scale: options.scale, format: probe.format, metadata: metadata)
        return Preview(
            image: image, rows: picture.rows, passes: picture.passes, passCount: picture.passCount,
            fraction: min(1, max(0, picture.fraction)), isComplete: picture.isComplete)
    }
}

extension Data {
    /// As ``withBytes(_:)``, also where there are none.
    fileprivate func withPossiblyNoBytes(
        _ body: (UnsafeBufferPointer<UInt8>) throws(ImageError) -> Void
    ) throws(ImageError) {
        guard !isEmpty else { return try body(UnsafeBufferPointer(start: nil, count: 0)) }
        try withBytes(body)
    }
}
