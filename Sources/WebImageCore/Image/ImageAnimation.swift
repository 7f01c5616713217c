// SPDX-License-Identifier: MIT

/// The loop count and the frame durations of an animation.
public struct AnimationTimeline: Sendable, Hashable {
    /// The number of times to play the animation, as stored in the file, where 0 repeats indefinitely.
    public var loopCount: Int
    /// The duration of each frame in milliseconds, after ``normalizedDelay(milliseconds:)`` was applied.
    public var durations: [Int]

    /// Creates a timeline with `durations` in milliseconds.
    public init(loopCount: Int, durations: [Int]) {
        self.loopCount = loopCount
        self.durations = durations
    }

    /// The number of frames.
    public var frameCount: Int { durations.count }

    /// Returns the duration with which a frame is displayed. As in web browsers, durations below 11 ms become 100 ms.
    public static func normalizedDelay(milliseconds: Int) -> Int { milliseconds < 11 ? 100 : milliseconds }
}

/// A type that provides the frames of an animation, composited on its canvas.
public protocol AnimationDecoder: Sendable {
    /// The loop count and the frame durations.
    var timeline: AnimationTimeline { get }
    /// The memory that the decoder occupies for encoded data and canvases, in bytes.
    var cost: Int { get }
    /// Decodes the complete frame at an index.
    ///
    /// This method blocks, so call it on a worker thread. Any number of threads may call it at the same time.
    ///
    /// - Throws: ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``, or an error that describes the problem
    ///   with the data.
    func frame(at index: Int) throws(ImageError) -> PixelBuffer
}

/// The frames of an image: a decoder, and the transformers that are applied to each frame on demand.
public final class ImageAnimation: Sendable {
    /// The loop count and the frame durations.
    public let timeline: AnimationTimeline
    private let decoder: any AnimationDecoder
    private let transformers: [any ImageTransformer]
    private let context: ImageProcessingContext

    /// Creates an animation whose frames come from a decoder.
    public convenience init(_ decoder: any AnimationDecoder) {
        self.init(decoder, transformers: [], context: ImageProcessingContext())
    }

    private init(
        _ decoder: any AnimationDecoder, transformers: [any ImageTransformer], context: ImageProcessingContext
    ) {
        self.timeline = decoder.timeline
        self.decoder = decoder
        self.transformers = transformers
        self.context = context
    }

    /// The memory that the animation occupies in addition to the poster frame, in bytes.
    public var cost: Int { decoder.cost }

    /// Returns the decoded and transformed frame at an index. This method blocks, so call it on a worker thread.
    ///
    /// - Throws: ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``, or an error that describes the problem
    ///   with the data.
    public func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(index) else {
            throw .request(.frameNotFound(index: index, frameCount: timeline.frameCount))
        }
        var pixels = try decoder.frame(at: index)
        // The deadline and the cancellation flag of the request that created the image don't apply to frames that are
        // requested later.
        let context = ImageProcessingContext(limits: context.limits, scale: context.scale)
        for transformer in transformers { pixels = try transformer.transform(pixels, context: context) }
        return pixels
    }

    /// Returns the animation with an additional transformer, which is applied to each frame on demand.
    ///
    /// The animation uses only the scale and the limits of `context`. The timeout applies to each frame separately.
    public func transformed(by transformer: any ImageTransformer, context: ImageProcessingContext) -> ImageAnimation {
        ImageAnimation(decoder, transformers: transformers + [transformer], context: context)
    }
}
