// SPDX-License-Identifier: MIT

/// When each frame of an animation is shown.
public struct AnimationTimeline: Sendable, Hashable {
    /// How often the animation plays, as stored; 0 is for ever.
    public var loopCount: Int
    /// Milliseconds per frame, after the rule of ``normalizedDelay(milliseconds:)``.
    public var durations: [Int]

    /// Creates a timeline; `durations` in milliseconds.
    public init(loopCount: Int, durations: [Int]) {
        self.loopCount = loopCount
        self.durations = durations
    }

    /// Number of frames.
    public var frameCount: Int { durations.count }

    /// Browsers' rule: below 11 ms a frame is shown for 100 ms.
    public static func normalizedDelay(milliseconds: Int) -> Int { milliseconds < 11 ? 100 : milliseconds }
}

/// Gives the frames of one animation, composited on its canvas.
public protocol AnimationDecoder: Sendable {
    /// When each frame is shown.
    var timeline: AnimationTimeline { get }
    /// Bytes this decoder holds (encoded data, canvases).
    var cost: Int { get }
    /// Decodes the frame at `index` in full. Blocks; call it on a worker thread, from any number of threads.
    ///
    /// - Throws: ``RequestError/noSuchFrame(index:count:)``, or what is wrong with the data.
    func frame(at index: Int) throws(ImageError) -> PixelBuffer
}

/// The frames of a picture: a decoder, and the transformers each frame goes through when it is asked for.
public final class ImageAnimation: Sendable {
    /// When each frame is shown.
    public let timeline: AnimationTimeline
    private let decoder: any AnimationDecoder
    private let transformers: [any ImageTransformer]
    private let context: TransformContext

    /// Wraps a decoder.
    public convenience init(_ decoder: any AnimationDecoder) {
        self.init(decoder, transformers: [], context: TransformContext())
    }

    private init(
        _ decoder: any AnimationDecoder, transformers: [any ImageTransformer], context: TransformContext
    ) {
        self.timeline = decoder.timeline
        self.decoder = decoder
        self.transformers = transformers
        self.context = context
    }

    /// Bytes held besides the poster.
    public var cost: Int { decoder.cost }

    /// The frame at `index`, decoded and transformed. Blocks; call it on a worker thread.
    ///
    /// - Throws: ``RequestError/noSuchFrame(index:count:)``, or what is wrong with the data.
    public func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(index) else {
            throw .request(.noSuchFrame(index: index, count: timeline.frameCount))
        }
        var pixels = try decoder.frame(at: index)
        // The clock and the flag of the work that made the picture have nothing to say to frames asked for later.
        let context = TransformContext(scale: context.scale, coding: CodingContext(limits: context.coding.limits))
        for transformer in transformers { pixels = try transformer.transform(pixels, context: context) }
        return pixels
    }

    /// The same animation with one more transformer, applied to each frame when it is asked for. Of `context` scale
    /// and limits stay; time begins anew with each frame.
    public func transformed(by transformer: any ImageTransformer, context: TransformContext) -> ImageAnimation {
        ImageAnimation(decoder, transformers: transformers + [transformer], context: context)
    }
}
