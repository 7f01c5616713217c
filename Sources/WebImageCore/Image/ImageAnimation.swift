// SPDX-License-Identifier: MIT

/// The loop count and the frame durations of an animation, in the unit in which decoders and players compute.
package struct AnimationTimeline: Sendable, Hashable {
    /// The number of times to play the animation, where 0 repeats indefinitely.
    package var loopCount: Int
    /// The duration of each frame in milliseconds, after ``normalizedDelay(milliseconds:)`` was applied.
    package var durations: [Int]

    /// Creates a timeline with `durations` in milliseconds.
    package init(loopCount: Int, durations: [Int]) {
        self.loopCount = loopCount
        self.durations = durations
    }

    /// The number of frames.
    package var frameCount: Int { durations.count }

    /// Returns the duration with which a frame is displayed. As in web browsers, durations below 11 ms become 100 ms.
    package static func normalizedDelay(milliseconds: Int) -> Int { milliseconds < 11 ? 100 : milliseconds }
}

/// A type that provides the frames of an animation, composited on its canvas.
package protocol AnimationDecoder: Sendable {
    /// The loop count and the frame durations.
    var timeline: AnimationTimeline { get }
    /// The memory that the decoder occupies for encoded data and canvases, in bytes.
    var cost: Int { get }
    /// Whether the decoder has all frames of the file. The default implementation returns `true`.
    var isComplete: Bool { get }
    /// Decodes the complete frame at an index.
    ///
    /// This method blocks, so call it on a worker thread. Any number of threads may call it at the same time.
    ///
    /// - Throws: ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``, or an error that describes the problem
    ///   with the data.
    func frame(at index: Int) throws(ImageError) -> PixelBuffer
}

extension AnimationDecoder {
    package var isComplete: Bool { true }
}

/// The frames of an animation, which are decoded and transformed on demand.
///
/// Animations come from decoders, or from images, image files, sprite sheets, and functions. Frame durations are rounded
/// to milliseconds, and as in web browsers, durations of less than 11 ms become 100 ms.
public final class ImageAnimation: Sendable {
    /// The loop count and the frame durations in milliseconds.
    package let timeline: AnimationTimeline
    private let decoder: any AnimationDecoder
    private let transformers: [any ImageTransformer]
    private let context: ImageProcessingContext

    /// Creates an animation whose frames come from a decoder.
    package convenience init(_ decoder: any AnimationDecoder) {
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

    /// The work of another process that decodes the frames, or `nil` if this process decodes them.
    package var remoteWork: RemoteWork? { (decoder as? any RemoteWorker)?.remoteWork }

    /// The number of frames, which is at least one.
    public var frameCount: Int { timeline.frameCount }

    /// The duration of each frame.
    public var frameDurations: [Duration] { timeline.durations.map { .milliseconds($0) } }

    /// The number of times to play the animation, where 0 repeats indefinitely.
    ///
    /// The number has the same meaning for all formats. GIF and AVIF files store the number of repetitions after the first
    /// play or the total duration, which decoders and encoders convert. An animation without a loop count in its GIF file
    /// plays once.
    public var loopCount: Int { timeline.loopCount }

    /// A Boolean value that indicates whether the animation has all frames of its file.
    ///
    /// The value is `false` only for the animations of previews, which have the frames that were received until then.
    /// Later previews of the same download have more frames, and the final image has all of them.
    public var isComplete: Bool { decoder.isComplete }

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
    package func transformed(by transformer: any ImageTransformer, context: ImageProcessingContext) -> ImageAnimation {
        ImageAnimation(decoder, transformers: transformers + [transformer], context: context)
    }
}
