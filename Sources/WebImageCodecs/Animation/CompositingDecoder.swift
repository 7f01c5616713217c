// SPDX-License-Identifier: MIT

import WebImageCore

/// A type that draws the frames of an animation onto a canvas, one after the other.
protocol FrameCompositor: SendableMetatype, ~Copyable {
    /// Makes the whole canvas transparent, as before the first frame.
    mutating func clear()
    /// Draws a frame onto the canvas, and returns whether every pixel of its visible region was written.
    mutating func draw(_ place: Int, context: ImageProcessingContext) throws(ImageError) -> Bool
    /// Applies the disposal that the file specifies for frame `place`, after it was shown.
    mutating func dispose(_ place: Int)
    borrowing func snapshot() throws(ImageError) -> PixelBuffer
}

/// A decoder that composes the frames of an animation on demand. Moving forward draws each frame once. Other jumps
/// start at the nearest frame that doesn't depend on earlier frames. Concurrent callers use separate canvases.
final class CompositingDecoder<Compositor: FrameCompositor & ~Copyable>: AnimationDecoder {
    let timeline: AnimationTimeline
    let cost: Int
    let isComplete: Bool
    private let keyFrames: KeyframeIndex
    private let layout: DecodeLayout
    private let limits: ImageLimits
    private let states: DecoderPool<State>

    private struct State: ~Copyable {
        var canvas: Compositor
        var keyFrames: KeyframeIndex
        /// The index of the frame on the canvas, or `nil` before the first frame.
        var canvasIndex: Int?
        /// The index of the frame at which the current pass over the frames began.
        var origin = 0

        init(canvas: consuming Compositor, keyFrames: KeyframeIndex) {
            self.canvas = canvas
            self.keyFrames = keyFrames
        }
    }

    /// Creates a decoder, and calls `canvas` once for the first canvas. Concurrent callers cause further calls. `cost`
    /// is the memory of a canvas and its source data, in bytes, and `isComplete` is whether the decoder has all frames
    /// of the file.
    init(
        keyFrames: KeyframeIndex, timeline: AnimationTimeline, layout: DecodeLayout, limits: ImageLimits, cost: Int,
        isComplete: Bool = true,
        canvas: @escaping @Sendable () throws(ImageError) -> sending Compositor
    ) throws(ImageError) {
        self.timeline = timeline
        self.cost = cost
        self.isComplete = isComplete
        self.keyFrames = keyFrames
        self.layout = layout
        self.limits = limits
        let make: @Sendable () throws(ImageError) -> sending State = { () throws(ImageError) in
            State(canvas: try canvas(), keyFrames: keyFrames)
        }
        states = DecoderPool(try make(), byteCount: cost, limits: limits, make: make)
    }

    /// Creates a decoder for a later version of the file of `earlier`, whose compositors also draw the new frames. Both
    /// decoders use the same canvases, so moving forward draws each frame once.
    init(
        extending earlier: CompositingDecoder, keyFrames: KeyframeIndex, timeline: AnimationTimeline, cost: Int,
        isComplete: Bool
    ) {
        self.timeline = timeline
        self.cost = cost
        self.isComplete = isComplete
        self.keyFrames = keyFrames
        layout = earlier.layout
        limits = earlier.limits
        states = earlier.states
    }

    func frame(at place: Int) throws(ImageError) -> PixelBuffer {
        // Use a deadline per frame, because playback may last for hours.
        try frame(at: place, context: ImageProcessingContext(limits: limits))
    }

    /// Returns a frame like ``frame(at:)``, with the deadline and the cancellation of `context`.
    func frame(at place: Int, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(place) else {
            throw .request(.frameNotFound(index: place, frameCount: timeline.frameCount))
        }
        let pixels = try states.decode(place) { (state) throws(ImageError) in
            state.keyFrames.extend(to: keyFrames)
            try Self.advance(&state, to: place, context)
            return try state.canvas.snapshot()
        }
        return try layout.finish(pixels, context: context)
    }

    private static func advance(
        _ state: inout State, to place: Int, _ context: ImageProcessingContext
    ) throws(ImageError) {
        let start = state.keyFrames.start(for: place)
        // After a failed frame, `shown` is `nil` and the contents of the canvas are undefined.
        if let shown = state.canvasIndex, shown <= place, shown >= start {} else { restart(&state, at: start) }
        while state.canvasIndex != place {
            try context.checkCancellation()
            let next = state.canvasIndex.map { $0 + 1 } ?? state.origin
            if let shown = state.canvasIndex { state.canvas.dispose(shown) }
            state.canvasIndex = nil
            let isSolid = try state.canvas.draw(next, context: context)
            state.canvasIndex = next
            if !isSolid, state.keyFrames.foundHoles(in: next), state.origin == next {
                restart(&state, at: state.keyFrames.start(for: next))
            }
        }
    }

    private static func restart(_ state: inout State, at start: Int) {
        state.canvas.clear()
        state.canvasIndex = nil
        state.origin = start
    }
}
