// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A compositor that draws the frames of a GIF file onto its canvas. It holds the encoded data, the index of the
/// frames, and the canvas.
struct GIFCompositor: FrameCompositor, ~Copyable {
    private let data: Data
    private let index: GIFIndex
    private var canvas: GIFCanvas

    /// Creates a compositor with a transparent canvas. Throws an ``ImageError/LimitFailure``, or
    /// ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    init(_ data: Data, index: GIFIndex, context: ImageProcessingContext) throws(ImageError) {
        self.data = data
        self.index = index
        self.canvas = try GIFCanvas(size: index.canvasSize, context: context)
    }

    mutating func clear() { canvas.clear() }

    mutating func draw(_ place: Int, context: ImageProcessingContext) throws(ImageError) -> Bool {
        try canvas.draw(index.frames[place], of: data, context: context).isSolid
    }

    mutating func dispose(_ place: Int) { canvas.dispose(index.frames[place]) }

    borrowing func snapshot() throws(ImageError) -> PixelBuffer { try canvas.snapshot() }
}

typealias GIFAnimationDecoder = CompositingDecoder<GIFCompositor>

extension CompositingDecoder where Compositor == GIFCompositor {
    convenience init(
        _ data: Data, index: GIFIndex, layout: DecodeLayout, context: ImageProcessingContext
    ) throws(ImageError) {
        let restoresCanvas = index.frames.contains { $0.disposal == .previous }
        for frame in index.frames {
            try frame.memory(onCanvas: index.canvasSize, restoresCanvas: restoresCanvas).check(context.limits)
        }
        let steps = index.frames.map {
            FrameOperation(rect: $0.rect, disposal: $0.disposal, replaces: $0.transparentIndex == nil)
        }
        let delays = index.frames.map { AnimationTimeline.normalizedDelay(milliseconds: $0.delayMilliseconds) }
        try self.init(
            keyFrames: KeyframeIndex(steps, canvas: index.canvasSize),
            timeline: AnimationTimeline(loopCount: index.loopCount, durations: delays), layout: layout,
            limits: context.limits,
            cost: data.count + index.frames.count * MemoryLayout<GIFFrame>.stride
                + index.canvasSize.width * index.canvasSize.height * (restoresCanvas ? 8 : 4)
        ) { [limits = context.limits] () throws(ImageError) in
            try GIFCompositor(data, index: index, context: ImageProcessingContext(limits: limits))
        }
    }
}
