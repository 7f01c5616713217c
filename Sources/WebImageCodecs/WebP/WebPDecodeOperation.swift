// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// An operation that decodes one WebP file.
struct WebPDecodeOperation {
    let data: Data
    let bytes: UnsafeBufferPointer<UInt8>
    let size: PixelSize
    let hasAlpha: Bool
    /// Whether a still image has lossless coding. libwebp stores all its pixels before it scales them.
    let isLossless: Bool
    let orientation: ImageOrientation
    let options: ImageDecodingOptions
    let context: ImageProcessingContext

    func decodeStill() throws(ImageError) -> DecodedImage {
        try options.requireStill()
        var layout = try DecodeLayout(
            rawSize: size, orientation: orientation, options: options, reduction: .anySize,
            detail: WebPCoder.detail(isLossless: isLossless), context: context)
        if isLossless { try context.limits.check(size) }
        let decodedSize = layout.decodedSize
        let canvas = try PixelCanvas.forDecoding(decodedSize, context: context)
        let isWhole = try WebPBitmapDecoder.decode(
            bytes, into: canvas, size: decodedSize, isScaled: decodedSize != size,
            allowsPartial: options.allowsPartialData, context: context)
        // libwebp rounds down when it premultiplies, and unscaled pixels must be exact, so premultiply them here.
        let profile = WebPContainer(bytes)?.iccProfile()
        let colors = options.colors(.from(profile: profile))
        let color = colors.conversion
        layout.curve = colors.curve
        let convertsLast = layout.convertsLast(color)
        let isStraight = decodedSize == size
        if let color, !convertsLast, isStraight { color.convert(canvas, rows: 0..<size.height) }
        if hasAlpha, isStraight { canvas.premultiply(rows: 0..<size.height) }
        if let color, !convertsLast, !isStraight { try color.convertPremultiplied(canvas, context: context) }
        let isOpaque = isWhole && !hasAlpha ? true : canvas.isEveryPixelOpaque()
        let pixels = try layout.finish(
            canvas.finish(isOpaque: isOpaque), color: convertsLast ? color : nil, context: context)
        return DecodedImage(
            pixels: pixels, scale: options.scale, format: .webp, metadata: metadata(isPartial: !isWhole))
    }

    func decodeAnimation() throws(ImageError) -> DecodedImage {
        guard let container = WebPContainer(bytes), let first = container.frame(at: 0) else {
            throw .decoding(.truncated(format: .webp, receivedBytes: bytes.count, expectedBytes: nil))
        }
        let wanted = context.limits.maxFrames > 1 ? options.frames.coderSelection : options.frames.asStill
        let count = container.frameCount
        if !container.isComplete, !options.allowsPartialData {
            throw .decoding(.truncated(format: .webp, receivedBytes: bytes.count, expectedBytes: nil))
        }
        if wanted == .all, count > context.limits.maxFrames {
            throw .limitExceeded(ImageError.LimitFailure(.frameCount, limit: context.limits.maxFrames, actual: count))
        }
        if wanted == .all, !container.isComplete, let whole = WebPTruncatedAnimation.wholeFrames(bytes) {
            return try decodeWholeFrames(whole)
        }
        let plays = wanted == .all && container.isComplete && count > 1
        var layout = try DecodeLayout(
            rawSize: size, orientation: orientation, options: options, frames: plays ? count : 1, context: context)
        layout.curve = colors(of: container).curve
        if wanted.stillIndex != 0 { return try single(wanted.stillIndex, in: container, layout: layout) }
        let poster = try decodeFirstFrame(first, in: container)
        let animation = plays ? try makeDecoder(container, layout: layout) : nil
        return DecodedImage(
            pixels: try layout.finish(poster.pixels, context: context),
            animation: animation.map(ImageAnimation.init), scale: options.scale, format: .webp,
            metadata: metadata(isPartial: poster.isPartial || !container.isComplete))
    }

    private func decodeWholeFrames(_ whole: Data) throws(ImageError) -> DecodedImage {
        let image = try whole.withBytes { (bytes) throws(ImageError) in
            try WebPDecodeOperation(
                data: whole, bytes: bytes, size: size, hasAlpha: hasAlpha, isLossless: isLossless,
                orientation: orientation, options: options, context: context
            ).decodeAnimation()
        }
        var metadata = image.metadata
        metadata.isPartial = true
        return DecodedImage(
            pixels: image.pixels, animation: image.animation, scale: image.scale, format: .webp, metadata: metadata)
    }

    /// Decodes the first frame onto the transparent canvas.
    private func decodeFirstFrame(_ frame: wi_webp_frame, in container: borrowing WebPContainer)
        throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool)
    {
        let place = PixelRect(
            x: Int(frame.x), y: Int(frame.y), width: Int(frame.width), height: Int(frame.height))
        guard place.clamped(to: size) == place else {
            throw .decoding(.corrupted(format: .webp, reason: "a frame extends past the edge of the canvas"))
        }
        let canvas = try PixelCanvas.forDecoding(size, zeroed: true, context: context)
        let isWhole = try WebPBitmapDecoder.decode(
            UnsafeBufferPointer(start: frame.data, count: frame.count), into: canvas, x: place.x, y: place.y,
            size: place.size, isScaled: false, allowsPartial: options.allowsPartialData, context: context)
        colors(of: container).conversion?.convert(canvas, rows: place.y..<place.y + place.height)
        canvas.premultiply(rows: place.y..<place.y + place.height)
        let isOpaque = canvas.isEveryPixelOpaque()
        return (canvas.finish(isOpaque: isOpaque), !isWhole)
    }

    private func single(_ index: Int, in container: borrowing WebPContainer, layout: DecodeLayout)
        throws(ImageError) -> DecodedImage
    {
        guard container.isComplete, (0..<container.frameCount).contains(index) else {
            throw .request(.frameNotFound(index: index, frameCount: container.frameCount))
        }
        let pixels = try makeDecoder(container, layout: layout).frame(at: index)
        return DecodedImage(pixels: pixels, scale: options.scale, format: .webp, metadata: metadata(isPartial: false))
    }

    private func makeDecoder(_ container: borrowing WebPContainer, layout: DecodeLayout)
        throws(ImageError) -> WebPAnimationDecoder
    {
        var durations: [Int] = []
        for index in 0..<container.frameCount {
            let milliseconds = Int(container.frame(at: index)?.milliseconds ?? 0)
            durations.append(AnimationTimeline.normalizedDelay(milliseconds: milliseconds))
        }
        return try WebPAnimationDecoder(
            data, timeline: AnimationTimeline(loopCount: container.loopCount, durations: durations),
            canvasSize: size, layout: layout, color: colors(of: container).conversion, limits: context.limits)
    }

    private func colors(of container: borrowing WebPContainer) -> DecodedColors {
        options.colors(.from(profile: container.iccProfile()))
    }

    private func metadata(isPartial: Bool) -> ImageMetadata {
        let profile = WebPContainer(bytes)?.iccProfile()
        let colors = options.colors(.from(profile: profile))
        return ImageMetadata(
            storedSize: size, orientation: orientation, hasAlpha: hasAlpha, isPartial: isPartial, iccProfile: profile,
            color: colors.color, sourceCurve: colors.sourceCurve)
    }
}
