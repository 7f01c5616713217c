// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// An operation that decodes one animated PNG file.
struct APNGDecodeOperation {
    let data: Data
    let index: APNGIndex
    let orientation: ImageOrientation
    let options: ImageDecodingOptions
    let context: ImageProcessingContext

    /// Decodes the first frame immediately and the others on demand. The first frame can differ from the still image
    /// that viewers without animation support display. The reader has parsed the header. Throws an
    /// ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
    /// ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
    func decode(_ reader: borrowing PNGReader) throws(ImageError) -> DecodedImage {
        guard index.canvasSize == reader.size else {
            let reason = "the size is \(index.canvasSize) instead of \(reader.size)"
            throw .decoding(.contradictsHeader(format: .apng, reason: reason))
        }
        guard !index.frames.isEmpty else {
            throw .decoding(.truncated(format: .apng, receivedBytes: data.count, expectedBytes: nil))
        }
        // As for a truncated GIF file, the result contains the complete frames.
        let isCut = index.isTruncated && options.effectiveFrames(context.limits) == .all
        let plays = try options.plays(count: index.frames.count, limits: context.limits)
        var layout = try DecodeLayout(
            rawSize: index.canvasSize, orientation: orientation, options: options,
            frames: plays ? index.frames.count : 1, context: context)
        let profile = reader.iccProfile()
        let colors = options.colors(reader.conversion(profile: profile))
        layout.curve = colors.curve
        let decoder = try APNGAnimationDecoder(
            data, index: index, hasAlpha: reader.hasAlpha, color: colors.conversion, layout: layout, context: context)
        let pixels = try decoder.frame(at: options.firstIndex, context: context)
        return DecodedImage(
            pixels: pixels, animation: plays ? ImageAnimation(decoder) : nil, scale: options.scale, format: .apng,
            metadata: ImageMetadata(
                storedSize: index.canvasSize, orientation: orientation, bitDepth: reader.depth,
                hasAlpha: reader.hasAlpha || !pixels.isOpaque, isPartial: isCut || index.hasWrongCheck,
                iccProfile: reader.describingProfile(profile, for: colors),
                codePoints: reader.color.codePoints, color: colors.color, sourceCurve: colors.sourceCurve))
    }
}
