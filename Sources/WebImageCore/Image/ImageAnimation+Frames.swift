// SPDX-License-Identifier: MIT

import Foundation

extension ImageAnimation {
    /// Creates an animation from images in memory.
    ///
    /// - Parameters:
    ///   - frames: The pixels and durations of the frames, at least one. All frames must have the same size and pixel
    ///     format.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public convenience init(
        frames: some Sequence<(pixels: PixelBuffer, duration: Duration)>, loopCount: Int = 0
    ) throws(ImageError) {
        let frames = Array(frames)
        let pixels = frames.map { $0.pixels }
        guard let first = pixels.first else { throw .request(.invalidOption(name: "frames", value: "none")) }
        if let other = pixels.first(where: { $0.size != first.size || $0.format != first.format }) {
            throw .request(.invalidOption(name: "frames", value: "\(first.size) and \(other.size)"))
        }
        let timeline = try AnimationTimeline(checked: frames.map { $0.duration }, loopCount: loopCount)
        // An image can appear in more than one frame, so count its bytes only once.
        var seen: Set<ObjectIdentifier> = []
        let cost = pixels.reduce(0) { seen.insert(ObjectIdentifier($1)).inserted ? $0 + $1.byteCount : $0 }
        self.init(ClosureFramesDecoder(timeline: timeline, size: first.size, cost: cost) { pixels[$0] })
    }

    /// Creates an animation whose frames are generated each time they're requested.
    ///
    /// - Parameters:
    ///   - frameDurations: The duration of each frame, for at least one frame.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    ///   - size: The size of every frame in pixels. A frame of another size causes
    ///     ``ImageError/RequestFailure/invalidOption(name:value:)``. The default is `nil`, which allows any size.
    ///   - cost: The memory that `makeFrame` occupies, in bytes. The default is 0.
    ///   - makeFrame: A function that returns the frame at an index. The animation calls it on any thread, also on
    ///     several threads at the same time.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public convenience init(
        frameDurations: some Sequence<Duration>, loopCount: Int = 0, size: PixelSize? = nil, cost: Int = 0,
        makeFrame: @escaping @Sendable (_ index: Int) throws(ImageError) -> PixelBuffer
    ) throws(ImageError) {
        let timeline = try AnimationTimeline(checked: Array(frameDurations), loopCount: loopCount)
        self.init(ClosureFramesDecoder(timeline: timeline, size: size, cost: cost, make: makeFrame))
    }

    /// Creates an animation from encoded images, which are decoded on demand. The animation holds only the encoded
    /// data.
    ///
    /// This initializer decodes the first frame immediately, so call it on a worker thread.
    ///
    /// - Parameters:
    ///   - encodedFrames: The data and durations of the frames, at least one. If an image is animated, its first frame
    ///     is used.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    ///   - coders: The registry that decodes the frames, within the limits ``ImageLimits/desktop``. All frames must
    ///     have the same size.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``, or an ``ImageError/DecodingFailure`` or an
    ///   ``ImageError/LimitFailure`` if the first frame can't be decoded.
    public convenience init(
        encodedFrames: some Sequence<(data: Data, duration: Duration)>, loopCount: Int = 0, coders: ImageCoderRegistry
    ) throws(ImageError) {
        let frames = Array(encodedFrames)
        let data = frames.map { $0.data }
        try self.init(
            durations: frames.map { $0.duration }, loopCount: loopCount, cost: data.reduce(0) { $0 + $1.count },
            coders: coders
        ) { data[$0] }
    }

    /// Creates an animation from frames whose encoded data `bytes` returns. The first frame is decoded immediately to
    /// determine the size.
    convenience init(
        durations: [Duration], loopCount: Int, cost: Int, coders: ImageCoderRegistry,
        bytes: @escaping @Sendable (_ index: Int) throws(ImageError) -> Data
    ) throws(ImageError) {
        let timeline = try AnimationTimeline(checked: durations, loopCount: loopCount)
        let decode = { @Sendable (place: Int) throws(ImageError) -> PixelBuffer in
            try coders.decode(bytes(place), options: ImageDecodingOptions(frames: .first)).pixels
        }
        let size = try decode(0).size
        self.init(ClosureFramesDecoder(timeline: timeline, size: size, cost: cost, make: decode))
    }
}

extension DecodedImage {
    /// Creates an image from an animation, whose first frame becomes the poster frame.
    ///
    /// This initializer blocks while it decodes the first frame, so call it on a worker thread.
    ///
    /// - Throws: An error that describes the problem with the first frame.
    public convenience init(animation: ImageAnimation, scale: Double = 1) throws(ImageError) {
        let poster = try animation.frame(at: 0)
        self.init(
            pixels: poster, animation: animation.frameCount > 1 ? animation : nil, scale: scale)
    }
}

extension AnimationTimeline {
    /// Throws ``ImageError/RequestFailure/invalidOption(name:value:)`` if there are no frames or the loop count is
    /// negative.
    init(checked durations: [Duration], loopCount: Int) throws(ImageError) {
        guard !durations.isEmpty else { throw .request(.invalidOption(name: "frames", value: "none")) }
        guard loopCount >= 0 else { throw .request(.invalidOption(name: "loopCount", value: "\(loopCount)")) }
        self.init(
            loopCount: loopCount,
            durations: durations.map { duration in
                AnimationTimeline.normalizedDelay(
                    milliseconds: Int(saturating: (duration / Duration.milliseconds(1)).rounded()))
            })
    }
}

/// A decoder whose frames come from a function.
struct ClosureFramesDecoder: AnimationDecoder {
    let timeline: AnimationTimeline
    let size: PixelSize?
    let cost: Int
    let make: @Sendable (_ index: Int) throws(ImageError) -> PixelBuffer

    func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(index) else {
            throw .request(.frameNotFound(index: index, frameCount: timeline.frameCount))
        }
        let pixels = try make(index)
        guard let size, pixels.size != size else { return pixels }
        throw .request(.invalidOption(name: "frame \(index)", value: "\(pixels.size) instead of \(size)"))
    }
}
