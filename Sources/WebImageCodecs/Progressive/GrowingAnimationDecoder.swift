// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A progressive decoder whose previews have all frames that were received until then.
///
/// While only one frame is complete, a preview is a still image. The animations of all previews share the received data
/// and the canvases, so no byte is parsed twice, and moving forward draws each frame once. Before the first frame is
/// complete, another decoder can show its rows.
final class GrowingAnimationDecoder<
    Scanner: AnimationScanner, Compositor: FrameCompositor & ~Copyable
>: ProgressiveImageDecoder {
    /// A function that creates a compositor with a transparent canvas for the frames that the file has received and
    /// will receive.
    typealias MakeCompositor =
        @Sendable (
            _ file: ReceivedAnimation<Scanner>, _ size: PixelSize, _ color: ColorConversion?,
            _ context: ImageProcessingContext
        ) throws(ImageError) -> sending Compositor

    private struct State {
        /// The decoder for the rows of the first frame, until that frame is complete.
        var rows: (any ProgressiveImageDecoder)?
        var rowsPreview: ImagePreview?
        var content: Content?
        var isFinished = false
        var failure: ImageError?
    }

    /// The frames that the previews have shown, and the values that they share.
    private struct Content {
        let properties: AnimationProperties
        let poster: PixelBuffer
        var keyFrames: KeyframeIndex
        var durations: [Int]
        var frames: CompositingDecoder<Compositor>
        var isAtEnd = false
        var isFinished = false
    }

    private let probe: ImageInfo
    private let options: ImageDecodingOptions
    private let layout: DecodeLayout
    private let limits: ImageLimits
    private let file: ReceivedAnimation<Scanner>
    private let makeCompositor: MakeCompositor
    private let state: Lock<State>

    /// Creates a decoder from a scanner that hasn't received any data. `rows` decodes the rows of the first frame, or
    /// is `nil` if the first preview shows the complete frame. The limits apply to the file and to frames that are
    /// requested later. Throws an ``ImageError`` if the requested size violates a rule of ``TargetSize`` or a limit.
    init(
        _ scanner: Scanner, rows: (any ProgressiveImageDecoder)? = nil, probe: ImageInfo,
        options: ImageDecodingOptions, context: ImageProcessingContext, makeCompositor: @escaping MakeCompositor
    ) throws(ImageError) {
        self.probe = probe
        self.makeCompositor = makeCompositor
        self.options = options
        limits = context.limits
        layout = try DecodeLayout(
            rawSize: probe.storedSize, orientation: probe.orientation, options: options, context: context)
        file = ReceivedAnimation(scanner)
        state = Lock(State(rows: rows))
    }

    func append(_ data: Data, isLast: Bool, context: ImageProcessingContext) throws(ImageError) {
        try state.withLock { (state) throws(ImageError) in
            if let failure = state.failure { throw failure }
            guard !state.isFinished else { return }
            state.isFinished = isLast
            do throws(ImageError) {
                try context.checkCancellation()
                try file.append(data, isLast: isLast, limits: limits)
                // The scanner and the decoder for rows may disagree about a corrupt file. Then neither result is shown.
                try state.rows?.append(data, isLast: isLast, context: context)
            } catch {
                state.failure = error
                throw error
            }
        }
    }

    func makePreview(context: ImageProcessingContext) throws(ImageError) -> ImagePreview? {
        try state.withLock { (state) throws(ImageError) in
            if let failure = state.failure { throw failure }
            do throws(ImageError) {
                let (count, isAtEnd) = try file.read { scanner, _ in (scanner.frameCount, scanner.isAtEnd) }
                if let preview = try state.rows?.makePreview(context: context) { state.rowsPreview = preview }
                guard count > 0 else { return takeRows(&state) }
                return try preview(&state, count: count, isAtEnd: isAtEnd || state.isFinished, context)
            } catch {
                state.failure = error
                throw error
            }
        }
    }

    /// Returns the rows of the first frame if they're new.
    private func takeRows(_ state: inout State) -> ImagePreview? {
        defer { state.rowsPreview = nil }
        guard var preview = state.rowsPreview else { return nil }
        // The frame isn't the whole file.
        preview.isComplete = false
        var metadata = preview.image.metadata
        metadata.isPartial = true
        preview.image = preview.image.with(metadata: metadata)
        return preview
    }

    private func preview(
        _ state: inout State, count: Int, isAtEnd: Bool, _ context: ImageProcessingContext
    ) throws(ImageError) -> ImagePreview? {
        let isFirst = state.content == nil
        var content: Content
        if let current = state.content { content = current } else { content = try begin(&state, context) }
        let isNew =
            isFirst || count > content.durations.count || isAtEnd != content.isAtEnd
            || state.isFinished != content.isFinished
        guard isNew else { return nil }
        content.isAtEnd = isAtEnd
        content.isFinished = state.isFinished
        let (loopCount, cost) = try file.read { scanner, data in
            for place in content.durations.count..<count {
                content.keyFrames.append(scanner.operation(at: place, content.properties))
                content.durations.append(AnimationTimeline.normalizedDelay(milliseconds: scanner.delay(at: place)))
            }
            return (scanner.loopCount, Self.cost(scanner, data, layout))
        }
        content.frames = CompositingDecoder(
            extending: content.frames, keyFrames: content.keyFrames,
            timeline: AnimationTimeline(loopCount: loopCount, durations: content.durations), cost: cost,
            isComplete: isAtEnd)
        state.content = content
        return try makePreview(content)
    }

    private func begin(_ state: inout State, _ context: ImageProcessingContext) throws(ImageError) -> Content {
        let (properties, size, first, cost) = try file.read {
            (scanner, data) throws(ImageError) -> (AnimationProperties, PixelSize?, FrameOperation, Int) in
            let properties = try scanner.properties(in: data, context: context)
            return (
                properties, scanner.canvasSize, scanner.operation(at: 0, properties), Self.cost(scanner, data, layout)
            )
        }
        guard let size, size == layout.rawSize else {
            throw .decoding(
                .contradictsHeader(
                    format: Scanner.format,
                    reason: "the size is \(size?.description ?? "unknown") instead of \(layout.rawSize)"))
        }
        let color = options.conversion(properties.color)
        let frames = try CompositingDecoder(
            keyFrames: KeyframeIndex([first], canvas: size),
            timeline: AnimationTimeline(loopCount: 1, durations: [AnimationTimeline.normalizedDelay(milliseconds: 0)]),
            layout: layout, limits: limits, cost: cost, isComplete: false
        ) { [file, limits, makeCompositor] () throws(ImageError) in
            try makeCompositor(file, size, color, ImageProcessingContext(limits: limits))
        }
        let poster: PixelBuffer
        if state.rows != nil {
            // The decoder for complete files also rejects a first frame with missing pixels.
            guard let preview = state.rowsPreview, preview.isComplete else {
                throw .decoding(.corrupted(format: Scanner.format, reason: "pixels of the first frame are missing"))
            }
            poster = preview.image.pixels
        } else {
            poster = try frames.frame(at: 0, context: context)
        }
        state.rows = nil
        state.rowsPreview = nil
        return Content(
            properties: properties, poster: poster, keyFrames: KeyframeIndex(canvas: size), durations: [],
            frames: frames)
    }

    private func makePreview(_ content: Content) throws(ImageError) -> ImagePreview {
        let properties = content.properties
        let (hasAlpha, isPartial) = try file.read { scanner, _ in
            (scanner.hasAlpha(content.poster, properties), scanner.isPartial)
        }
        let metadata = ImageMetadata(
            storedSize: layout.rawSize, orientation: layout.orientation, bitDepth: properties.bitDepth,
            hasAlpha: hasAlpha, isPartial: isPartial || !content.isFinished, iccProfile: properties.iccProfile,
            codePoints: properties.codePoints)
        let image = DecodedImage(
            pixels: content.poster, animation: content.durations.count > 1 ? ImageAnimation(content.frames) : nil,
            scale: options.scale, format: Scanner.format, metadata: metadata)
        return ImagePreview(
            image: image, completedRows: layout.rawSize.height, completedPasses: 1, fractionCompleted: 1,
            isComplete: content.isFinished)
    }

    private static func cost(_ scanner: Scanner, _ data: ReceivedData, _ layout: DecodeLayout) -> Int {
        data.count + scanner.cost + layout.rawSize.width * layout.rawSize.height * 4
    }
}
