// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore

/// A GIF's frames on demand. Holds the encoded bytes, where the frames are in them, one canvas, and a second one
/// while a frame asks for the canvas before it. Going forward draws each frame once; other jumps begin at the nearest
/// frame that needs none before it.
final class GIFAnimationDecoder: AnimationDecoder {
    let timeline: AnimationTimeline
    private let data: Data
    private let index: GIFIndex
    private let layout: DecodeLayout
    private let limits: Limits
    private let state: Lock<State>

    private struct State: ~Copyable {
        var canvas: GIFCanvas
        var keyFrames: GIFKeyFrames
        /// The frame the canvas shows; nil before the first.
        var shown: Int?
        /// Where the present run over the frames began.
        var origin = 0
    }

    init(_ data: Data, index: GIFIndex, layout: DecodeLayout, context: CodingContext) throws(ImageError) {
        self.data = data
        self.index = index
        self.layout = layout
        self.limits = context.limits
        self.timeline = AnimationTimeline(
            loopCount: index.loopCount,
            durations: index.frames.map { AnimationTimeline.normalizedDelay(milliseconds: $0.delayMilliseconds) })
        let canvas = try GIFCanvas(size: index.canvasSize, context: context)
        self.state = Lock(State(canvas: canvas, keyFrames: GIFKeyFrames(index)))
    }

    var cost: Int {
        data.count + index.frames.count * MemoryLayout<GIFFrame>.stride
            + index.canvasSize.width * index.canvasSize.height * 4
    }

    func frame(at place: Int) throws(ImageError) -> PixelBuffer {
        guard index.frames.indices.contains(place) else {
            throw .request(.noSuchFrame(index: place, count: index.frames.count))
        }
        // A deadline per frame: playback may go on for hours.
        let context = CodingContext(limits: limits)
        let pixels = try state.withLock { (state) throws(ImageError) in
            try advance(&state, to: place, context)
            return try state.canvas.snapshot()
        }
        return try layout.finish(pixels, context: context)
    }

    private func advance(_ state: inout State, to place: Int, _ context: CodingContext) throws(ImageError) {
        prepare(&state, for: place)
        while state.shown != place {
            try context.checkpoint()
            let next = state.shown.map { $0 + 1 } ?? state.origin
            if let shown = state.shown { state.canvas.dispose(index.frames[shown]) }
            state.shown = nil
            let outcome = try state.canvas.draw(index.frames[next], of: data, context: context)
            state.shown = next
            if !outcome.isSolid, state.keyFrames.foundHoles(in: next), state.origin == next {
                restart(&state, at: state.keyFrames.start(for: next))
            }
        }
    }

    private func prepare(_ state: inout State, for place: Int) {
        let start = state.keyFrames.start(for: place)
        // After a failed frame nothing is shown and the canvas is worth nothing.
        guard let shown = state.shown, shown <= place, shown >= start else {
            return restart(&state, at: start)
        }
    }

    private func restart(_ state: inout State, at start: Int) {
        state.canvas.clear()
        state.shown = nil
        state.origin = start
    }
}
