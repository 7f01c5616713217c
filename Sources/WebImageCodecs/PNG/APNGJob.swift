// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// One decode of one animated PNG.
struct APNGJob {
    let data: Data
    let index: APNGIndex
    let orientation: Orientation
    let options: DecodeOptions
    let context: CodingContext

    /// Nil where the file is to be taken as a still.
    ///
    /// - Parameter bytes: those of `data`.
    init?(
        _ data: Data, _ bytes: UnsafeBufferPointer<UInt8>, orientation: Orientation, options: DecodeOptions,
        context: CodingContext
    ) {
        let wanted = options.wantedFrames(context.limits)
        let limit = wanted.neededFrames(limit: context.limits.maxFrames)
        guard let index = APNGIndex.read(bytes, frameLimit: limit) else { return nil }
        // Nothing of the animation is whole: what there is of the still picture may do.
        if index.frames.isEmpty, options.allowsPartial { return nil }
        self.data = data
        self.index = index
        self.orientation = orientation
        self.options = options
        self.context = context
    }

    /// The first frame, which need not be the still picture that viewers without animations show, and the others on
    /// demand.
    ///
    /// - Parameter reader: has read the header.
    /// - Throws: families 4xxx and 6xxx, ``RequestError/noSuchFrame(index:count:)``.
    func decode(_ reader: borrowing PNGReader) throws(ImageError) -> Image {
        guard index.canvasSize == reader.size else {
            throw .decode(.inconsistent(format: .apng, reason: "\(index.canvasSize) instead of \(reader.size)"))
        }
        let isCut = index.isTruncated && (options.wantedFrames(context.limits) == .all || index.frames.isEmpty)
        if isCut, !options.allowsPartial {
            throw .decode(.truncated(format: .apng, received: data.count, expected: nil))
        }
        let plays = try options.plays(count: index.frames.count, limits: context.limits)
        let layout = try DecodeLayout(
            rawSize: index.canvasSize, orientation: orientation, options: options,
            frames: plays ? index.frames.count : 1, context: context)
        let decoder = try APNGAnimationDecoder(
            data, index: index, hasAlpha: reader.hasAlpha, layout: layout, context: context)
        let pixels = try decoder.frame(at: options.firstIndex, context: context)
        return Image(
            pixels: pixels, animation: plays ? ImageAnimation(decoder) : nil, scale: options.scale, format: .apng,
            metadata: ImageMetadata(
                rawSize: index.canvasSize, orientation: orientation, depth: reader.depth,
                hasAlpha: reader.hasAlpha || !pixels.isOpaque, isPartial: isCut, iccProfile: reader.iccProfile()))
    }
}
