// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// GIF 87a and 89a, still and animated, without a library: the blocks are walked in Swift, LZW is unpacked by a small
/// C function with its own bounds.
public struct GIFCoder: ImageCoder {
    /// Creates the coder.
    public init() {}

    /// True for GIF.
    public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .gif }

    /// Decodes the poster at once and the frames of an animation when they are asked for.
    ///
    /// A file that ends early keeps the frames that are whole; where not even the first one is, it is refused unless
    /// `allowsPartial`.
    ///
    /// - Throws: families 4xxx and 6xxx, ``RequestError/noSuchFrame(index:count:)``.
    public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        let wanted = context.limits.maxFrames > 1 ? options.frames : options.frames.asStill
        var index = try data.withBytes { (bytes) throws(ImageError) in
            try GIFIndex(bytes, frameLimit: wanted.neededFrames(limit: context.limits.maxFrames))
        }
        if !options.allowsPartial { index.dropIncompleteFrame() }
        if wanted == .all, index.frames.count > context.limits.maxFrames {
            throw .limit(LimitError(.frames, limit: context.limits.maxFrames, actual: index.frames.count))
        }
        let isAnimated = wanted == .all && index.frames.count > 1
        let layout = try DecodeLayout(
            rawSize: index.canvasSize, options: options, frames: isAnimated ? index.frames.count : 1,
            context: context)
        let poster = try decodeStill(
            at: wanted.stillIndex, data, index: index, allowsPartial: options.allowsPartial, context: context)
        let animation =
            isAnimated ? try GIFAnimationDecoder(data, index: index, layout: layout, context: context) : nil
        return Image(
            pixels: try layout.finish(poster.pixels, context: context), animation: animation.map(ImageAnimation.init),
            scale: options.scale, format: .gif,
            metadata: ImageMetadata(
                rawSize: index.canvasSize,
                hasAlpha: !poster.pixels.isOpaque || index.frames.contains { $0.transparentIndex != nil },
                isPartial: poster.isPartial || index.isTruncated))
    }

    /// The first frame, by rows or pass by pass.
    public func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?
    {
        let layout = try DecodeLayout(rawSize: probe.rawSize, options: options, context: context)
        return StreamDecoder(GIFStream(probe: probe), probe: probe, options: options, layout: layout)
    }

    /// True for GIF.
    public func canEncode(_ format: ImageFormat) -> Bool { format == .gif }

    /// Encodes the still or the animation with a palette of at most 256 colours a frame, 255 in animations: the frame's
    /// own where they are not more, otherwise by median cut. Pixels less than half opaque become transparent, the others
    /// opaque. Delays are rounded to hundredths of a second, two at least.
    ///
    /// - Throws: ``TransformError/encodingFailed(format:reason:)``, ``RequestError/invalidOption(name:value:)``,
    ///   ``RequestError/noSuchFrame(index:count:)``, a ``LimitError``.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        try GIFWriter.encode(image, as: encoding, context: context)
    }

    /// Composites up to frame `place`, beginning at the nearest frame that needs none before it.
    private func decodeStill(
        at place: Int, _ data: Data, index: GIFIndex, allowsPartial: Bool, context: CodingContext
    ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        guard index.frames.indices.contains(place) else {
            throw .request(.noSuchFrame(index: place, count: index.frames.count))
        }
        if place > 0 {
            let layout = try DecodeLayout(rawSize: index.canvasSize, options: DecodeOptions(), context: context)
            let decoder = try GIFAnimationDecoder(data, index: index, layout: layout, context: context)
            return (try decoder.frame(at: place), false)
        }
        var canvas = try GIFCanvas(size: index.canvasSize, context: context)
        try context.checkpoint()
        let outcome = try canvas.draw(index.frames[0], of: data, context: context)
        if let failure = outcome.failure, !allowsPartial { throw .decode(failure) }
        return (canvas.finish(), outcome.failure != nil)
    }
}

extension DecodeOptions.Frames {
    /// The poster instead of an animation.
    var asStill: DecodeOptions.Frames { self == .all ? .first : self }

    /// The frame that becomes the still or the poster.
    var stillIndex: Int {
        if case .single(let index) = self { index } else { 0 }
    }

    /// How many frames must be known; one more than `limit` is enough to know that there are too many.
    func neededFrames(limit: Int) -> Int {
        switch self {
        case .all: limit == .max ? .max : limit + 1
        case .first: 1
        case .single(let index): max(1, min(index, Int.max - 1) + 1)
        }
    }
}
