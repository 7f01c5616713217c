// SPDX-License-Identifier: MIT

import Foundation

extension ImageAnimation {
    /// Creates an animation from images in memory.
    ///
    /// - Parameters:
    ///   - frames: The pixels and durations of the frames, at least one. All frames must have the same size and pixel
    ///     format. ``AnimationTimeline/normalizedDelay(milliseconds:)`` applies to the durations.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public convenience init(
        frames: [(pixels: PixelBuffer, milliseconds: Int)], loopCount: Int = 0
    ) throws(ImageError) {
        let pixels = frames.map(\.pixels)
        guard let first = pixels.first else { throw .request(.invalidOption(name: "frames", value: "none")) }
        if let other = pixels.first(where: { $0.size != first.size || $0.format != first.format }) {
            throw .request(.invalidOption(name: "frames", value: "\(first.size) and \(other.size)"))
        }
        let timeline = try AnimationTimeline(checked: frames.map(\.milliseconds), loopCount: loopCount)
        // An image can appear in more than one frame, so count its bytes only once.
        var seen: Set<ObjectIdentifier> = []
        let cost = pixels.reduce(0) { seen.insert(ObjectIdentifier($1)).inserted ? $0 + $1.byteCount : $0 }
        self.init(ClosureFramesDecoder(timeline: timeline, size: first.size, cost: cost) { pixels[$0] })
    }

    /// Creates an animation whose frames are generated each time they're requested.
    ///
    /// - Parameters:
    ///   - frameDurations: The duration of each frame in milliseconds, for at least one frame.
    ///     ``AnimationTimeline/normalizedDelay(milliseconds:)`` applies to the durations.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    ///   - size: The size of every frame in pixels. A frame of another size causes
    ///     ``ImageError/RequestFailure/invalidOption(name:value:)``. The default is `nil`, which allows any size.
    ///   - cost: The memory that `makeFrame` occupies, in bytes. The default is 0.
    ///   - makeFrame: A function that returns the frame at an index. The animation calls it on any thread, also on
    ///     several threads at the same time.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public convenience init(
        frameDurations: [Int], loopCount: Int = 0, size: PixelSize? = nil, cost: Int = 0,
        makeFrame: @escaping @Sendable (_ index: Int) throws(ImageError) -> PixelBuffer
    ) throws(ImageError) {
        let timeline = try AnimationTimeline(checked: frameDurations, loopCount: loopCount)
        self.init(ClosureFramesDecoder(timeline: timeline, size: size, cost: cost, make: makeFrame))
    }

    /// Creates an animation from encoded images, which are decoded on demand. The animation holds only the encoded
    /// data.
    ///
    /// - Parameters:
    ///   - encodedFrames: The data and durations of the frames, at least one. If an image is animated, its first frame
    ///     is used.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    ///   - coders: The registry that decodes the frames.
    ///   - options: The decoding options. With them, all frames must have the same size.
    ///   - limits: The limits for each frame. The default is ``ImageLimits/desktop``.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``, or an error of the families 4xxx or 6xxx if
    ///   the first frame can't be decoded.
    public convenience init(
        encodedFrames: [(data: Data, milliseconds: Int)], loopCount: Int = 0, coders: ImageCoderRegistry,
        options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits = .desktop
    ) throws(ImageError) {
        let data = encodedFrames.map(\.data)
        try self.init(
            durations: encodedFrames.map(\.milliseconds), loopCount: loopCount, cost: data.reduce(0) { $0 + $1.count },
            coders: coders, options: options, limits: limits
        ) { data[$0] }
    }

    /// Creates an animation from frames whose encoded data `bytes` returns. The first frame is decoded immediately to
    /// determine the size.
    convenience init(
        durations: [Int], loopCount: Int, cost: Int, coders: ImageCoderRegistry, options: ImageDecodingOptions,
        limits: ImageLimits,
        bytes: @escaping @Sendable (_ index: Int) throws(ImageError) -> Data
    ) throws(ImageError) {
        let timeline = try AnimationTimeline(checked: durations, loopCount: loopCount)
        var stills = options
        stills.frames = .first
        let decode = { @Sendable [stills] (place: Int) throws(ImageError) -> PixelBuffer in
            try coders.decode(bytes(place), options: stills, context: ImageProcessingContext(limits: limits)).pixels
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
            pixels: poster, animation: animation.timeline.frameCount > 1 ? animation : nil, scale: scale)
    }
}

extension AnimationTimeline {
    /// Creates a timeline after validating its values.
    ///
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)`` if there are no frames or the loop count is
    ///   negative.
    init(checked durations: [Int], loopCount: Int) throws(ImageError) {
        guard !durations.isEmpty else { throw .request(.invalidOption(name: "frames", value: "none")) }
        guard loopCount >= 0 else { throw .request(.invalidOption(name: "loopCount", value: "\(loopCount)")) }
        self.init(loopCount: loopCount, durations: durations.map(Self.normalizedDelay))
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
