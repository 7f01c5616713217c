// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The frames of an animation that `webimage convert` writes.
struct ConvertFrames: Sendable {
    /// The selected frames, or `nil` for all frames.
    let selection: FrameListArgument?
    /// The names of the output files, or `nil` if all frames are written to one file.
    let names: FrameNames?

    init(_ arguments: Arguments, output: String) throws(UsageError) {
        selection = try arguments.frameSelection()
        names = FrameNames(output)
    }

    /// Returns the selected frames and their indices.
    func chosen(of image: DecodedImage) throws(ImageError) -> (image: DecodedImage, indices: [Int]) {
        guard let selection else { return (image, Array(0..<image.frameCount)) }
        let indices = try selection.indices(count: image.frameCount)
        return (try image.selecting(.indices(indices)), indices)
    }

    /// Returns a copy of the image that reports progress whenever an encoder requests a frame.
    static func telling(_ image: DecodedImage, _ printer: WorkPrinter) throws(ImageError) -> DecodedImage {
        guard let animation = image.animation else { return image }
        let timeline = animation.timeline
        let told = try ImageAnimation(
            frameDurations: timeline.durations, loopCount: timeline.loopCount, cost: animation.cost
        ) { (place) throws(ImageError) in
            printer.update(done: place, total: timeline.frameCount)
            return try animation.frame(at: place)
        }
        return image.replacing(pixels: image.pixels, animation: told)
    }

    /// Writes `image` to one file, or each frame to its own file. `original` is the encoded data of the source image.
    func write(
        _ image: DecodedImage, _ indices: [Int], as encoding: ImageEncoding, original: Data, to output: String,
        context: ImageProcessingContext
    ) throws(ImageError) {
        let coders = ImageCoderRegistry.standard
        guard let names else {
            return try Files.write(
                try coders.encode(image, as: encoding, original: original, context: context), to: output)
        }
        for (place, index) in indices.enumerated() {
            var single = encoding
            single.frames = .indices([place])
            try Files.write(
                try coders.encode(image, as: single, original: original, context: context), to: names.name(index))
        }
    }
}
