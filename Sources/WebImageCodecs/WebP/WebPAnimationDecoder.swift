// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// An animated WebP's frames on demand through libwebp's compositor, which holds two canvases. It goes forward only:
/// an earlier frame begins again at the first.
final class WebPAnimationDecoder: AnimationDecoder {
    let timeline: AnimationTimeline
    private let encoded: EncodedBytes
    private let canvasSize: PixelSize
    private let layout: DecodeLayout
    private let color: ColorConversion?
    private let limits: Limits
    private let states: DecoderPool<State>

    private struct State: ~Copyable {
        let handle: OpaquePointer
        /// The frame that the next step gives.
        var next = 0
        /// libwebp's canvas with frame `next - 1`.
        var canvas: UnsafePointer<UInt8>?

        /// - Throws: ``DecodeError/corrupt(format:reason:)``.
        init(_ encoded: EncodedBytes) throws(ImageError) {
            guard let handle = wi_webp_animation_open(encoded.bytes.baseAddress, encoded.count) else {
                throw .decode(.corrupt(format: .webp, reason: "libwebp cannot read the animation"))
            }
            self.handle = handle
        }

        deinit { wi_webp_animation_close(handle) }
    }

    /// - Parameters:
    ///   - data: a whole file.
    ///   - timeline: as read from the container.
    /// - Throws: ``DecodeError/corrupt(format:reason:)``.
    init(
        _ data: Data, timeline: AnimationTimeline, canvasSize: PixelSize, layout: DecodeLayout,
        color: ColorConversion? = nil, limits: Limits
    ) throws(ImageError) {
        let encoded = EncodedBytes(data)
        self.encoded = encoded
        self.timeline = timeline
        self.canvasSize = canvasSize
        self.layout = layout
        self.color = color
        self.limits = limits
        let make: @Sendable () throws(ImageError) -> sending State = { () throws(ImageError) in try State(encoded) }
        states = DecoderPool(try make(), make: make)
    }

    var cost: Int { encoded.count + canvasSize.width * canvasSize.height * 4 * 2 }

    func frame(at place: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(place) else {
            throw .request(.noSuchFrame(index: place, count: timeline.frameCount))
        }
        // A deadline per frame: playback may go on for hours.
        let context = CodingContext(limits: limits)
        let pixels = try states.decode(place) { (state) throws(ImageError) in
            try advance(&state, to: place, context)
            return try copy(state.canvas, context)
        }
        return try layout.finish(pixels, context: context)
    }

    private func advance(_ state: inout State, to place: Int, _ context: CodingContext) throws(ImageError) {
        if place + 1 < state.next || (place + 1 == state.next && state.canvas == nil) {
            wi_webp_animation_rewind(state.handle)
            state.next = 0
        }
        while state.next <= place {
            try context.checkpoint()
            state.canvas = wi_webp_animation_next(state.handle)
            state.next += 1
            guard state.canvas != nil else {
                // Begin again next time: libwebp does not say what state it is in now.
                state.next = .max
                throw .decode(.corrupt(format: .webp, reason: "frame \(place) of the animation is damaged"))
            }
        }
    }

    private func copy(_ source: UnsafePointer<UInt8>?, _ context: CodingContext) throws(ImageError) -> PixelBuffer {
        guard let source else { throw .decode(.corrupt(format: .webp, reason: "the animation has no pixels")) }
        let canvas = try PixelCanvas.forDecoding(canvasSize, context: context)
        let rowBytes = canvasSize.width * 4
        for row in 0..<canvasSize.height { canvas.row(row).update(from: source + row * rowBytes, count: rowBytes) }
        color?.convert(canvas, rows: 0..<canvasSize.height)
        let isOpaque = canvas.isEveryPixelOpaque()
        if !isOpaque { canvas.premultiply(rows: 0..<canvasSize.height) }
        return canvas.finish(isOpaque: isOpaque)
    }
}
