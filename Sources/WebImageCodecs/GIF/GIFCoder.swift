// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder for still and animated images in the formats GIF87a and GIF89a, without a system library.
///
/// Swift code parses the blocks, and a small C function with its own bounds checks decompresses LZW.
package struct GIFCoder: FrameSelectingCoder, GrowingAnimationCoder {
    /// Creates a coder.
    package init() {}

    /// Returns whether the format is GIF.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .gif }

    /// Decodes a GIF image.
    ///
    /// The coder decodes the poster frame immediately and the frames of an animation on demand. If the file is
    /// truncated, the image contains the complete frames. If even the first frame is incomplete, the coder throws an
    /// error unless `allowsPartial` is `true`.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
    ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        let wanted = context.limits.maxFrames > 1 ? options.frames.coderSelection : options.frames.asStill
        var index = try data.withBytes { (bytes) throws(ImageError) in
            try GIFIndex(bytes, frameLimit: wanted.neededFrames(limit: context.limits.maxFrames))
        }
        if !options.allowsPartialData { index.dropIncompleteFrame() }
        if wanted == .all, index.frames.count > context.limits.maxFrames {
            throw .limitExceeded(
                ImageError.LimitFailure(.frameCount, limit: context.limits.maxFrames, actual: index.frames.count))
        }
        let isAnimated = wanted == .all && index.frames.count > 1
        let layout = try DecodeLayout(
            rawSize: index.canvasSize, options: options, frames: isAnimated ? index.frames.count : 1,
            context: context)
        let poster = try decodeStill(
            at: wanted.stillIndex, data, index: index, allowsPartial: options.allowsPartialData, context: context)
        let animation =
            isAnimated ? try GIFAnimationDecoder(data, index: index, layout: layout, context: context) : nil
        return DecodedImage(
            pixels: try layout.finish(poster.pixels, context: context), animation: animation.map(ImageAnimation.init),
            scale: options.scale, format: .gif,
            metadata: ImageMetadata(
                storedSize: index.canvasSize,
                hasAlpha: !poster.pixels.isOpaque || index.frames.contains { $0.transparentIndex != nil },
                isPartial: poster.isPartial || index.isTruncated))
    }

    /// Creates a decoder that shows the first frame row by row or pass by pass.
    package func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        let layout = try DecodeLayout(rawSize: info.storedSize, options: options, context: context)
        return IncrementalDecoderAdapter(
            GIFIncrementalDecoder(probe: info), probe: info, options: options, layout: layout)
    }

    /// Creates a decoder that shows the first frame row by row or pass by pass, and then the frames as they arrive.
    package func makeGrowingDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        guard options.size?.dependsOnFrameCount != true else { return nil }
        let rows = try makeProgressiveDecoder(info: info, options: options, context: context)
        return try GrowingAnimationDecoder(
            GIFScanner(), rows: rows, probe: info, options: options, context: context
        ) { (file, size, _, context) throws(ImageError) in
            try ReceivedGIFCompositor(file, size: size, context: context)
        }
    }

    /// Returns whether the format is GIF.
    package func canEncode(_ format: ImageFormat) -> Bool { format == .gif }

    /// Encodes a still image or an animation.
    ///
    /// Each frame has a palette of up to 256 colors, or up to 255 in an animation. A frame with more colors is reduced
    /// with the median cut algorithm. Pixels with less than half opacity become transparent, and the others become
    /// opaque. Delays are rounded to hundredths of a second, with a minimum of two hundredths. A loop count above 65,536
    /// becomes 65,536.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``,
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)``, or an ``ImageError/LimitFailure``.
    package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        try GIFWriter.encode(image, as: encoding, context: context)
    }

    /// Composes the frame `place`, starting at the nearest frame that doesn't depend on earlier frames.
    private func decodeStill(
        at place: Int, _ data: Data, index: GIFIndex, allowsPartial: Bool, context: ImageProcessingContext
    ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        guard index.frames.indices.contains(place) else {
            throw .request(.frameNotFound(index: place, frameCount: index.frames.count))
        }
        if place > 0 {
            let layout = try DecodeLayout(rawSize: index.canvasSize, options: ImageDecodingOptions(), context: context)
            let decoder = try GIFAnimationDecoder(data, index: index, layout: layout, context: context)
            return (try decoder.frame(at: place), false)
        }
        var canvas = try GIFCanvas(size: index.canvasSize, context: context)
        try context.checkCancellation()
        let outcome = try canvas.draw(index.frames[0], of: data, isStill: true, context: context)
        if let failure = outcome.failure, !allowsPartial { throw .decoding(failure) }
        return (canvas.finish(), outcome.failure != nil)
    }
}

extension FrameSelection {
    /// The frames without animation: `.all` becomes `.first`.
    var asStill: FrameSelection { coderSelection == .all ? .first : self }

    /// The index of the frame that becomes the still image or the poster frame.
    var stillIndex: Int {
        if case .index(let index) = self { index } else { 0 }
    }

    /// Returns the number of frames that the index must contain. For all frames, that's one more than `limit`, which
    /// suffices to detect too many frames.
    func neededFrames(limit: Int) -> Int {
        switch self {
        case .all, .range, .indices: limit == .max ? .max : limit + 1
        case .first: 1
        case .index(let index): max(1, min(index, Int.max - 1) + 1)
        }
    }
}
