// SPDX-License-Identifier: MIT

import WebImageCore

/// A canvas that a format's frames are laid onto, one after the other.
protocol FrameCompositor: ~Copyable {
    /// Back to the beginning: everything transparent.
    mutating func clear()
    /// Lays frame `place` onto the canvas.
    ///
    /// - Returns: whether every pixel of the frame's visible part was written.
    mutating func draw(_ place: Int, context: CodingContext) throws(ImageError) -> Bool
    /// What the file wants done to the canvas after frame `place` was shown.
    mutating func dispose(_ place: Int)
    /// A copy of what is to be seen.
    borrowing func snapshot() throws(ImageError) -> PixelBuffer
}

/// An animation's frames on demand from a canvas, and a second one while a frame asks for the canvas before it. Going
/// forward draws each frame once; other jumps begin at the nearest frame that needs none before it.
final class CompositingDecoder<Compositor: FrameCompositor & ~Copyable>: AnimationDecoder {
    let timeline: AnimationTimeline
    let cost: Int
    private let layout: DecodeLayout
    private let limits: Limits
    private let states: DecoderPool<State>

    private struct State: ~Copyable {
        var canvas: Compositor
        var keyFrames: KeyFrames
        /// The frame the canvas shows; nil before the first.
        var shown: Int?
        /// Where the present run over the frames began.
        var origin = 0

        init(canvas: consuming Compositor, keyFrames: KeyFrames) {
            self.canvas = canvas
            self.keyFrames = keyFrames
        }
    }

    /// - Parameters:
    ///   - cost: bytes that a canvas and what it draws from hold.
    ///   - canvas: makes a canvas: one now, others for callers at the same time.
    /// - Throws: what `canvas` throws.
    init(
        keyFrames: KeyFrames, timeline: AnimationTimeline, layout: DecodeLayout, limits: Limits, cost: Int,
        canvas: @escaping @Sendable () throws(ImageError) -> sending Compositor
    ) throws(ImageError) {
        self.timeline = timeline
        self.cost = cost
        self.layout = layout
        self.limits = limits
        let make: @Sendable () throws(ImageError) -> sending State = { () throws(ImageError) in
            State(canvas: try canvas(), keyFrames: keyFrames)
        }
        states = DecoderPool(try make(), make: make)
    }

    func frame(at place: Int) throws(ImageError) -> PixelBuffer {
        // A deadline per frame: playback may go on for hours.
        try frame(at: place, context: CodingContext(limits: limits))
    }

    /// As ``frame(at:)``, under the deadline and the cancellation of `context`.
    func frame(at place: Int, context: CodingContext) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(place) else {
            throw .request(.noSuchFrame(index: place, count: timeline.frameCount))
        }
        let pixels = try states.decode(place) { (state) throws(ImageError) in
            try Self.advance(&state, to: place, context)
            return try state.canvas.snapshot()
        }
        return try layout.finish(pixels, context: context)
    }

    private static func advance(_ state: inout State, to place: Int, _ context: CodingContext) throws(ImageError) {
        let start = state.keyFrames.start(for: place)
        // After a failed frame nothing is shown and the canvas is worth nothing.
        if let shown = state.shown, shown <= place, shown >= start {} else { restart(&state, at: start) }
        while state.shown != place {
            try context.checkpoint()
            let next = state.shown.map { $0 + 1 } ?? state.origin
            if let shown = state.shown { state.canvas.dispose(shown) }
            state.shown = nil
            let isSolid = try state.canvas.draw(next, context: context)
            state.shown = next
            if !isSolid, state.keyFrames.foundHoles(in: next), state.origin == next {
                restart(&state, at: state.keyFrames.start(for: next))
            }
        }
    }

    private static func restart(_ state: inout State, at start: Int) {
        state.canvas.clear()
        state.shown = nil
        state.origin = start
    }
}
