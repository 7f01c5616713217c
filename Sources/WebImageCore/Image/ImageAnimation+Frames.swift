// SPDX-License-Identifier: MIT

import Foundation

extension ImageAnimation {
    /// An animation of pictures that are in memory.
    ///
    /// - Parameters:
    ///   - frames: at least one, all of the same size and pixel format; milliseconds follow
    ///     ``AnimationTimeline/normalizedDelay(milliseconds:)``.
    ///   - loopCount: how often it plays, 0 for ever. Default 0.
    /// - Throws: ``RequestError/invalidOption(name:value:)``.
    public convenience init(
        frames: [(pixels: PixelBuffer, milliseconds: Int)], loopCount: Int = 0
    ) throws(ImageError) {
        let pixels = frames.map(\.pixels)
        guard let first = pixels.first else { throw .request(.invalidOption(name: "frames", value: "none")) }
        if let other = pixels.first(where: { $0.size != first.size || $0.format != first.format }) {
            throw .request(.invalidOption(name: "frames", value: "\(first.size) and \(other.size)"))
        }
        let timeline = try AnimationTimeline(checked: frames.map(\.milliseconds), loopCount: loopCount)
        // One picture may be shown more than once.
        var seen: Set<ObjectIdentifier> = []
        let cost = pixels.reduce(0) { seen.insert(ObjectIdentifier($1)).inserted ? $0 + $1.byteCount : $0 }
        self.init(CalledFrames(timeline: timeline, size: first.size, cost: cost) { pixels[$0] })
    }

    /// An animation whose frames are made when they are asked for, each time anew.
    ///
    /// - Parameters:
    ///   - durations: milliseconds per frame, at least one; they follow
    ///     ``AnimationTimeline/normalizedDelay(milliseconds:)``.
    ///   - loopCount: how often it plays, 0 for ever. Default 0.
    ///   - size: of every frame in pixels; a frame of another size is an error
    ///     (``RequestError/invalidOption(name:value:)``). Nil takes what comes. Default nil.
    ///   - cost: bytes that `frame` holds. Default 0.
    ///   - frame: gives the frame of an index; called on any thread, also on several at once.
    /// - Throws: ``RequestError/invalidOption(name:value:)``.
    public convenience init(
        durations: [Int], loopCount: Int = 0, size: PixelSize? = nil, cost: Int = 0,
        frame: @escaping @Sendable (_ index: Int) throws(ImageError) -> PixelBuffer
    ) throws(ImageError) {
        let timeline = try AnimationTimeline(checked: durations, loopCount: loopCount)
        self.init(CalledFrames(timeline: timeline, size: size, cost: cost, make: frame))
    }

    /// An animation of encoded pictures, each decoded when it is asked for. Only the encoded bytes are held.
    ///
    /// - Parameters:
    ///   - encodedFrames: at least one; of an animated picture the first frame counts.
    ///   - loopCount: how often it plays, 0 for ever. Default 0.
    ///   - coders: who decodes.
    ///   - options: how; every frame must come out at the same size.
    ///   - limits: of each frame. Default ``Limits/desktop``.
    /// - Throws: ``RequestError/invalidOption(name:value:)``, and families 4xxx and 6xxx for the first frame's header.
    public convenience init(
        encodedFrames: [(data: Data, milliseconds: Int)], loopCount: Int = 0, coders: CoderRegistry,
        options: DecodeOptions = DecodeOptions(), limits: Limits = .desktop
    ) throws(ImageError) {
        let data = encodedFrames.map(\.data)
        try self.init(
            durations: encodedFrames.map(\.milliseconds), loopCount: loopCount, cost: data.reduce(0) { $0 + $1.count },
            coders: coders, options: options, limits: limits
        ) { data[$0] }
    }

    /// Frames whose encoded bytes `bytes` gives; the first is decoded at once, for its size.
    convenience init(
        durations: [Int], loopCount: Int, cost: Int, coders: CoderRegistry, options: DecodeOptions, limits: Limits,
        bytes: @escaping @Sendable (_ index: Int) throws(ImageError) -> Data
    ) throws(ImageError) {
        let timeline = try AnimationTimeline(checked: durations, loopCount: loopCount)
        var stills = options
        stills.frames = .first
        let decode = { @Sendable [stills] (place: Int) throws(ImageError) -> PixelBuffer in
            try coders.decode(bytes(place), options: stills, context: CodingContext(limits: limits)).pixels
        }
        let size = try decode(0).size
        self.init(CalledFrames(timeline: timeline, size: size, cost: cost, make: decode))
    }
}

extension Image {
    /// A picture that moves: its poster is the animation's first frame. Blocks while that is made; call it on a worker
    /// thread.
    ///
    /// - Throws: what is wrong with the first frame.
    public convenience init(_ animation: ImageAnimation, scale: Double = 1) throws(ImageError) {
        let poster = try animation.frame(at: 0)
        self.init(
            pixels: poster, animation: animation.timeline.frameCount > 1 ? animation : nil, scale: scale)
    }
}

extension AnimationTimeline {
    /// - Throws: ``RequestError/invalidOption(name:value:)`` without a frame and for a negative loop count.
    init(checked durations: [Int], loopCount: Int) throws(ImageError) {
        guard !durations.isEmpty else { throw .request(.invalidOption(name: "frames", value: "none")) }
        guard loopCount >= 0 else { throw .request(.invalidOption(name: "loopCount", value: "\(loopCount)")) }
        self.init(loopCount: loopCount, durations: durations.map(Self.normalizedDelay))
    }
}

/// Frames from a function.
struct CalledFrames: AnimationDecoder {
    let timeline: AnimationTimeline
    let size: PixelSize?
    let cost: Int
    let make: @Sendable (_ index: Int) throws(ImageError) -> PixelBuffer

    func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(index) else {
            throw .request(.noSuchFrame(index: index, count: timeline.frameCount))
        }
        let pixels = try make(index)
        guard let size, pixels.size != size else { return pixels }
        throw .request(.invalidOption(name: "frame \(index)", value: "\(pixels.size) instead of \(size)"))
    }
}
