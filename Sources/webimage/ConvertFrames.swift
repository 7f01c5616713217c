// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// What `webimage convert` does with the frames of an animation.
struct ConvertFrames: Sendable {
    /// Nil is all of them.
    let selection: FrameSelection?
    /// Nil where all frames go into one file.
    let names: FrameNames?

    init(_ arguments: Arguments, output: String) throws(UsageError) {
        selection = try arguments.frameSelection()
        names = FrameNames(output)
    }

    /// The chosen frames, and their numbers.
    func chosen(of image: Image) throws(ImageError) -> (image: Image, indices: [Int]) {
        guard let selection else { return (image, Array(0..<image.frameCount)) }
        let indices = try selection.indices(count: image.frameCount)
        return (try image.taking(.list(indices)), indices)
    }

    /// The same picture; each frame that an encoder asks for is shown as work done.
    static func telling(_ image: Image, _ printer: WorkPrinter) throws(ImageError) -> Image {
        guard let animation = image.animation else { return image }
        let timeline = animation.timeline
        let told = try ImageAnimation(
            durations: timeline.durations, loopCount: timeline.loopCount, cost: animation.cost
        ) { (place) throws(ImageError) in
            printer.update(done: place, total: timeline.frameCount)
            return try animation.frame(at: place)
        }
        return image.replacing(pixels: image.pixels, animation: told)
    }

    /// Writes what is in `image` as one file, or each frame as one; `original` are the bytes it came from.
    func write(
        _ image: Image, _ indices: [Int], as encoding: ImageEncoding, original: Data, to output: String,
        context: CodingContext
    ) throws(ImageError) {
        let coders = CoderRegistry.standard
        guard let names else {
            return try Files.write(
                try coders.encode(image, as: encoding, original: original, context: context), to: output)
        }
        for (place, index) in indices.enumerated() {
            var single = encoding
            single.frames = .list([place])
            try Files.write(
                try coders.encode(image, as: single, original: original, context: context), to: names.name(index))
        }
    }
}
