// SPDX-License-Identifier: MIT

import WebImageCore

/// A library's handle that gives an animation's frames, whole, in any order.
protocol FrameSource: ~Copyable {
    mutating func decode(frame: Int, context: CodingContext) throws(ImageError) -> PixelBuffer
}

/// An animation's frames on demand from a library's handle, which one caller at a time uses. Callers at the same time have
/// handles of their own.
final class FrameDecoder<Source: FrameSource & ~Copyable>: AnimationDecoder {
    let timeline: AnimationTimeline
    let cost: Int
    private let layout: DecodeLayout
    private let limits: Limits
    private let sources: DecoderPool<Source>

    /// - Parameters:
    ///   - cost: bytes that the handle holds.
    ///   - another: opens the file once more.
    init(
        _ source: consuming sending Source, timeline: AnimationTimeline, layout: DecodeLayout, limits: Limits,
        cost: Int,
        another: @escaping @Sendable () throws(ImageError) -> sending Source
    ) {
        self.timeline = timeline
        self.cost = cost
        self.layout = layout
        self.limits = limits
        sources = DecoderPool(source, make: another)
    }

    func frame(at place: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(place) else {
            throw .request(.noSuchFrame(index: place, count: timeline.frameCount))
        }
        // A deadline per frame: playback may go on for hours.
        let context = CodingContext(limits: limits)
        let pixels = try sources.decode(place) { (source) throws(ImageError) in
            try source.decode(frame: place, context: context)
        }
        return try layout.finish(pixels, context: context)
    }
}

extension DecodeOptions {
    /// The frames to be decoded: with a limit of one frame, animations give their poster.
    func wantedFrames(_ limits: Limits) -> Frames { limits.maxFrames > 1 || frames != .all ? frames : .first }

    /// Whether a file of `count` frames becomes an animation.
    ///
    /// - Throws: a ``LimitError`` of kind frames, ``RequestError/noSuchFrame(index:count:)``.
    func plays(count: Int, limits: Limits) throws(ImageError) -> Bool {
        switch wantedFrames(limits) {
        case .single(let index):
            guard (0..<count).contains(index) else { throw .request(.noSuchFrame(index: index, count: count)) }
            return false
        case .first: return false
        case .all:
            guard count <= limits.maxFrames else {
                throw .limit(LimitError(.frames, limit: limits.maxFrames, actual: count))
            }
            return count > 1
        }
    }

    /// The index of the frame that becomes the still or the poster.
    var firstIndex: Int { if case .single(let index) = frames { index } else { 0 } }
}
