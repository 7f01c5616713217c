// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The frames of an animation that `webimage convert` writes.
struct ConvertFrames: Sendable {
    /// An encoded file.
    struct Encoded: Sendable {
        /// The index of the frame, or `nil` if the file contains all frames.
        let index: Int?
        let data: Data
        let size: PixelSize
    }

    /// The selected frames, or `nil` for all frames.
    let selection: FrameListArgument?
    /// The names of the output files, or `nil` if all frames are written to one file.
    let names: FrameNames?

    /// Creates the frames to write. The name of a single output file can contain a placeholder for the number of the
    /// frame.
    init(_ selection: FrameListArgument?, plan: OutputPlan) {
        self.selection = selection
        if case .file(let pattern) = plan.destination { names = FrameNames(pattern) } else { names = nil }
    }

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

    /// Encodes `image` as one file, or each frame as its own file. `original` is the encoded data of the source image.
    func encoded(
        _ image: DecodedImage, _ indices: [Int], as encoding: ImageEncoding, original: Data,
        coders: ImageCoderRegistry, context: ImageProcessingContext
    ) throws(ImageError) -> [Encoded] {
        guard names != nil else {
            let data = try coders.encode(image, as: encoding, original: original, context: context)
            return [Encoded(index: nil, data: data, size: Self.size(of: data, image))]
        }
        var files: [Encoded] = []
        for (place, index) in indices.enumerated() {
            var single = encoding
            single.frames = .indices([place])
            let data = try coders.encode(image, as: single, original: original, context: context)
            files.append(Encoded(index: index, data: data, size: Self.size(of: data, image)))
        }
        return files
    }

    /// Returns the size in the header of the encoded data, because encoding options can reduce the image.
    static func size(of data: Data, _ image: DecodedImage) -> PixelSize {
        (try? ImageInfo(data: data).size) ?? image.size
    }
}
