// SPDX-License-Identifier: MIT

import WebImageCore

/// A type that decodes whole frames of an animation in any order, through the handle of a library.
protocol LibraryFrameSource: ~Copyable {
    mutating func decode(frame: Int, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer
}

/// A decoder that produces the frames of an animation on demand. Each caller uses a handle of the library exclusively,
/// so concurrent callers use separate handles.
final class LibraryFrameDecoder<Source: LibraryFrameSource & ~Copyable>: AnimationDecoder {
    let timeline: AnimationTimeline
    let cost: Int
    private let layout: DecodeLayout
    private let limits: ImageLimits
    private let sources: DecoderPool<Source>

    /// Creates a decoder. `cost` is the memory that the handle uses, in bytes, and `another` opens the file again.
    init(
        _ source: consuming sending Source, timeline: AnimationTimeline, layout: DecodeLayout, limits: ImageLimits,
        cost: Int, table: AnimationDecoderTable = .shared,
        another: @escaping @Sendable () throws(ImageError) -> sending Source
    ) {
        self.timeline = timeline
        self.cost = cost
        self.layout = layout
        self.limits = limits
        sources = DecoderPool(source, byteCount: cost, limits: limits, table: table, make: another)
    }

    func frame(at place: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(place) else {
            throw .request(.frameNotFound(index: place, frameCount: timeline.frameCount))
        }
        // Use a deadline per frame, because playback may last for hours.
        let context = ImageProcessingContext(limits: limits)
        let pixels = try sources.decode(place) { (source) throws(ImageError) in
            try source.decode(frame: place, context: context)
        }
        return try layout.finish(pixels, context: context)
    }
}

extension ImageDecodingOptions {
    /// Returns the frames to decode. If the limit is one frame, only the poster frame of an animation is decoded.
    func effectiveFrames(_ limits: ImageLimits) -> FrameSelection {
        limits.maxFrames > 1 || frames.coderSelection != .all ? frames.coderSelection : .first
    }

    /// Returns whether a file with `count` frames becomes an animation. Throws an ``ImageError/LimitFailure`` of kind
    /// `frames`, or ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
    func plays(count: Int, limits: ImageLimits) throws(ImageError) -> Bool {
        switch effectiveFrames(limits) {
        case .index(let index):
            guard (0..<count).contains(index) else { throw .request(.frameNotFound(index: index, frameCount: count)) }
            return false
        case .first: return false
        case .all, .range, .indices:
            guard count <= limits.maxFrames else {
                throw .limitExceeded(ImageError.LimitFailure(.frameCount, limit: limits.maxFrames, actual: count))
            }
            return count > 1
        }
    }

    /// The index of the frame that becomes the still image or the poster frame.
    var firstIndex: Int { if case .index(let index) = frames { index } else { 0 } }
}
