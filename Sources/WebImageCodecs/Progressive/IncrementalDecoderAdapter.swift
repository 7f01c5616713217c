// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A type that decodes one format incrementally.
protocol IncrementalDecoder: ~Copyable {
    /// Appends the next bytes of the file. The pointer is valid only during the call. The buffer may be empty if
    /// `isLast` is `true`.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, such as
    ///   ``ImageError/DecodingFailure/Reason/truncated(receivedBytes:expectedBytes:)`` if `isLast` is `true` and pixels
    ///   are missing.
    mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: ImageProcessingContext
    ) throws(ImageError)

    /// Returns the visible part of the stored image, or `nil` if no pixels are visible yet.
    mutating func image(context: ImageProcessingContext) throws(ImageError) -> IncrementalImage?
}

/// The partial image that a stream has decoded so far.
struct IncrementalImage {
    /// The stored image, which the decoder may already have reduced.
    var pixels: PixelBuffer
    /// The width and height of the image in pixels of `pixels`, if they differ from the size of the buffer.
    var extent: (width: Double, height: Double)?
    /// The number of rows of the stored image that contain pixels.
    var rows: Int
    var passes = 0
    var passCount: Int? = 1
    var fraction: Double
    /// The fraction of the frequencies of the image that are known, or `nil` if the decoder doesn't know it.
    var detail: Double?
    var isComplete: Bool
    /// Whether a checksum of the data is wrong or missing.
    var isDamaged = false
    var depth = 8
    var hasAlpha = false
    var iccProfile: [UInt8]?
    /// A profile with the colors that a file without a profile describes by other means than code points.
    var equivalentProfile: [UInt8]?
    var codePoints: ColorCodePoints?
    /// The conversion to sRGB that still has to be applied to the pixels.
    var color: ColorConversion?
}

/// A progressive decoder that wraps the stream of a format. It scales partial images to the requested size, applies
/// the orientation, and remembers a failure.
final class IncrementalDecoderAdapter<Stream: IncrementalDecoder & ~Copyable>: ProgressiveImageDecoder {
    private let probe: ImageInfo
    private let options: ImageDecodingOptions
    private let layout: DecodeLayout
    private let state: Lock<State>

    private struct State: ~Copyable {
        var stream: Stream
        var received = 0
        /// The value of `progress` when the last preview was created.
        var displayedProgress = 0
        var isFinished = false
        var failure: ImageError?

        /// A value that grows with every byte and at the end of the data.
        var progress: Int { received + (isFinished ? 1 : 0) }
    }

    init(_ stream: consuming sending Stream, probe: ImageInfo, options: ImageDecodingOptions, layout: DecodeLayout) {
        self.probe = probe
        self.options = options
        self.layout = layout
        self.state = Lock(State(stream: stream))
    }

    func append(_ bytes: Data, isLast: Bool, context: ImageProcessingContext) throws(ImageError) {
        try state.withLock { (state) throws(ImageError) in
            if let failure = state.failure { throw failure }
            guard !state.isFinished else { return }
            state.received += bytes.count
            state.isFinished = isLast
            do throws(ImageError) {
                try context.limits.check(encodedBytes: state.received)
                try context.checkCancellation()
                try bytes.withPossiblyNoBytes { (bytes) throws(ImageError) in
                    try state.stream.append(bytes, isLast: isLast, context: context)
                }
            } catch {
                state.failure = error
                throw error
            }
        }
    }

    func makePreview(context: ImageProcessingContext) throws(ImageError) -> ImagePreview? {
        let picture = try state.withLock { (state) throws(ImageError) -> IncrementalImage? in
            if let failure = state.failure { throw failure }
            guard state.progress > state.displayedProgress else { return nil }
            guard let picture = try state.stream.image(context: context) else { return nil }
            state.displayedProgress = state.progress
            return picture
        }
        return try picture.map { (picture) throws(ImageError) in try preview(of: picture, context) }
    }

    private func preview(
        of picture: IncrementalImage, _ context: ImageProcessingContext
    ) throws(ImageError) -> ImagePreview {
        let colors = options.colors(picture.color)
        let color = colors.conversion
        var layout = layout
        layout.curve = colors.curve
        let convertsLast = layout.convertsLast(color)
        var stored = picture.pixels
        if let color, !convertsLast { stored = try color.converted(stored, context: context) }
        let pixels = try layout.finish(
            stored, extent: picture.extent, color: convertsLast ? color : nil, context: context)
        let metadata = ImageMetadata(
            storedSize: layout.rawSize, orientation: layout.orientation, bitDepth: picture.depth,
            hasAlpha: picture.hasAlpha,
            isPartial: !picture.isComplete || picture.isDamaged,
            iccProfile: colors.describingProfile(picture.iccProfile, or: picture.equivalentProfile),
            codePoints: picture.codePoints, color: colors.color, sourceCurve: colors.sourceCurve)
        let image = DecodedImage(pixels: pixels, scale: options.scale, format: probe.format, metadata: metadata)
        var preview = ImagePreview(
            image: image, completedRows: picture.rows, completedPasses: picture.passes, passCount: picture.passCount,
            fractionCompleted: min(1, max(0, picture.fraction)), isComplete: picture.isComplete)
        preview.detail = picture.detail
        return preview
    }
}

extension Data {
    /// Calls `body` like ``withBytes(_:)``, but accepts empty data.
    fileprivate func withPossiblyNoBytes(
        _ body: (UnsafeBufferPointer<UInt8>) throws(ImageError) -> Void
    ) throws(ImageError) {
        guard !isEmpty else { return try body(UnsafeBufferPointer(start: nil, count: 0)) }
        try withBytes(body)
    }
}
