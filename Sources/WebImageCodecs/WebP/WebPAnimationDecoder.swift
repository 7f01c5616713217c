// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// A decoder for the frames of an animated WebP file on demand, based on the compositor of libwebp. The compositor
/// holds two canvases and only moves forward, so it restarts at the first frame to reach an earlier frame.
final class WebPAnimationDecoder: AnimationDecoder {
    let timeline: AnimationTimeline
    private let encoded: PinnedData
    private let canvasSize: PixelSize
    private let layout: DecodeLayout
    private let color: ColorConversion?
    private let limits: ImageLimits
    private let states: DecoderPool<State>

    private struct State: ~Copyable {
        let handle: OpaquePointer
        /// The index of the frame that the compositor produces next.
        var next = 0
        /// The canvas of libwebp with frame `next - 1`.
        var canvas: UnsafePointer<UInt8>?

        /// Throws ``ImageError/DecodingFailure/Reason/corrupted(_:)``.
        init(_ encoded: PinnedData) throws(ImageError) {
            guard let handle = wi_webp_animation_open(encoded.bytes.baseAddress, encoded.count) else {
                throw .decoding(.corrupted(format: .webp, reason: "libwebp can't open the animation"))
            }
            self.handle = handle
        }

        deinit { wi_webp_animation_close(handle) }
    }

    /// Creates a decoder for a complete file, with the timeline from the container. The limits apply to each frame.
    /// Throws ``ImageError/DecodingFailure/Reason/corrupted(_:)`` or an ``ImageError/LimitFailure``.
    init(
        _ data: Data, timeline: AnimationTimeline, canvasSize: PixelSize, layout: DecodeLayout,
        color: ColorConversion? = nil, limits: ImageLimits
    ) throws(ImageError) {
        // The compositor of libwebp holds two canvases and decodes each frame onto one of them.
        try AnimationMemory(canvasSize: canvasSize, canvasCount: 2).check(limits)
        let encoded = PinnedData(data)
        self.encoded = encoded
        self.timeline = timeline
        self.canvasSize = canvasSize
        self.layout = layout
        self.color = color
        self.limits = limits
        let make: @Sendable () throws(ImageError) -> sending State = { () throws(ImageError) in try State(encoded) }
        states = DecoderPool(
            try make(), byteCount: AnimationMemory(canvasSize: canvasSize).byteCount, limits: limits, make: make)
    }

    var cost: Int { encoded.count + canvasSize.width * canvasSize.height * 4 * 2 }

    func frame(at place: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(place) else {
            throw .request(.frameNotFound(index: place, frameCount: timeline.frameCount))
        }
        // Use a deadline per frame, because playback may last for hours.
        let context = ImageProcessingContext(limits: limits)
        let pixels = try states.decode(place) { (state) throws(ImageError) in
            try advance(&state, to: place, context)
            return try copy(state.canvas, context)
        }
        return try layout.finish(pixels, context: context)
    }

    private func advance(_ state: inout State, to place: Int, _ context: ImageProcessingContext) throws(ImageError) {
        if place + 1 < state.next || (place + 1 == state.next && state.canvas == nil) {
            wi_webp_animation_rewind(state.handle)
            state.next = 0
        }
        while state.next <= place {
            try context.checkCancellation()
            state.canvas = wi_webp_animation_next(state.handle)
            state.next += 1
            guard state.canvas != nil else {
                // Restart at the next call, because libwebp doesn't report its state after an error.
                state.next = .max
                throw .decoding(
                    .corrupted(format: .webp, reason: "libwebp can't decode frame \(place) of the animation"))
            }
        }
    }

    private func copy(
        _ source: UnsafePointer<UInt8>?, _ context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        guard let source else { throw .decoding(.corrupted(format: .webp, reason: "the animation has no pixels")) }
        let canvas = try PixelCanvas.forDecoding(canvasSize, context: context)
        let rowBytes = canvasSize.width * 4
        for row in 0..<canvasSize.height { canvas.row(row).update(from: source + row * rowBytes, count: rowBytes) }
        color?.convert(canvas, rows: 0..<canvasSize.height)
        let isOpaque = canvas.isEveryPixelOpaque()
        if !isOpaque { canvas.premultiply(rows: 0..<canvasSize.height) }
        return canvas.finish(isOpaque: isOpaque)
    }
}
