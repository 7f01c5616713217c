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

    /// Creates the frames to write. `pattern` is the output file that the user specified, which may contain a placeholder
    /// for the number of the frame, or `nil` if the name of the output file isn't a pattern.
    init(_ selection: FrameListArgument?, pattern: String?) {
        self.selection = selection
        names = pattern.flatMap { FrameNames($0) }
    }

    /// Returns the selected frames and their indices.
    func chosen(of image: DecodedImage) throws(ImageError) -> (image: DecodedImage, indices: [Int]) {
        guard let selection else { return (image, Array(0..<image.frameCount)) }
        // The decoder has already selected a single frame.
        if let index = selection.singleIndex { return (image, [index]) }
        let indices = try selection.indices(count: image.frameCount)
        return (try image.selecting(.indices(indices)), indices)
    }

    /// Returns a copy of the image that reports progress whenever an encoder requests a frame.
    static func reporting(_ image: DecodedImage, _ printer: WorkPrinter) throws(ImageError) -> DecodedImage {
        guard let animation = image.animation else { return image }
        let reporting = try ImageAnimation(
            frameDurations: animation.frameDurations, loopCount: animation.loopCount, cost: animation.cost
        ) { (place) throws(ImageError) in
            printer.update(done: place, total: animation.frameCount)
            return try animation.frame(at: place)
        }
        return image.replacing(pixels: image.pixels, animation: reporting)
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
