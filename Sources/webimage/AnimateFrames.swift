// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageCommand
import WebImageConcurrency
import WebImageCore
import WebImagePrograms

/// The images that `webimage animate` uses as frames. They're read and decoded whenever an encoder requests them, so only
/// the first one and the requested one are in memory. The class is thread-safe.
final class AnimateFrames: Sendable {
    /// The encoded image of a frame.
    enum Source: Sendable {
        /// A file, which is read whenever the frame is requested.
        case file(String)
        case data(Data)
    }

    private struct State {
        /// The first frame, whose size is that of the animation, or `nil` before it was requested.
        var first: PixelBuffer?
        /// The index of the first frame that failed.
        var failedIndex: Int?
        /// The numbers of frames of the inputs that are animations.
        var frameCounts: [Int: Int] = [:]
    }

    private let inputs: [ImageInput]
    private let sources: [Source]
    private let options: AnimateOptions
    private let reader: ImageReader
    private let state = Lock(State())

    /// Creates the frames. `inputs` and `sources` have the same number of elements, at least one.
    init(_ inputs: [ImageInput], _ sources: [Source], _ options: AnimateOptions, _ reader: ImageReader) {
        self.inputs = inputs
        self.sources = sources
        self.options = options
        self.reader = reader
    }

    /// The input whose frame couldn't be read or decoded, or `nil` if there's none.
    var failedInput: ImageInput? { state.withLock { $0.failedIndex }.map { inputs[$0] } }

    /// Notes about inputs that are animations.
    var notes: [String] {
        state.withLock { $0.frameCounts }.sorted { $0.key < $1.key }.map { index, count in
            "\(inputs[index].label): only the first of \(count) frames is used"
        }
    }

    /// Returns a frame with the size of the animation. Blocks.
    func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        do throws(ImageError) {
            let first = try first()
            return index == 0 ? first : try decoded(index, on: first.size)
        } catch {
            state.withLock { $0.failedIndex = $0.failedIndex ?? index }
            throw error
        }
    }

    /// Returns the first frame, which is decoded once.
    private func first() throws(ImageError) -> PixelBuffer {
        if let first = state.withLock({ $0.first }) { return first }
        let first = try decoded(0, on: nil)
        state.withLock { $0.first = first }
        return first
    }

    /// Decodes a frame, and places it on a canvas of this size. The size is `nil` for the first frame.
    private func decoded(_ index: Int, on canvas: PixelSize?) throws(ImageError) -> PixelBuffer {
        let data =
            switch sources[index] {
            case .file(let path): try Files.read(path, limit: reader.limits.maxEncodedBytes)
            case .data(let data): data
            }
        note((try? ImageInfo(data: data).frameCount) ?? 1, at: index)
        // Without a requested size, the decoder reduces larger images, which needs less memory than a canvas.
        let size = options.size ?? canvas.map { .fit(width: Double($0.width), height: Double($0.height)) }
        var decoding = ImageDecodingOptions(size: size, frames: .first)
        decoding.resampling = options.resampling
        let pixels = try reader.coders(for: inputs[index]).decode(
            data, options: decoding, context: ImageProcessingContext(limits: reader.limits)
        ).pixels
        return try placed(pixels, on: canvas ?? pixels.size)
    }

    private func note(_ frameCount: Int, at index: Int) {
        guard frameCount > 1 else { return }
        state.withLock { $0.frameCounts[index] = frameCount }
    }

    /// Returns pixels at the center of a canvas, on the requested background. Larger images are reduced.
    private func placed(_ pixels: PixelBuffer, on canvas: PixelSize) throws(ImageError) -> PixelBuffer {
        let context = ImageProcessingContext(limits: reader.limits)
        var pixels = pixels
        if pixels.size != canvas {
            pixels = try StandardTransformer.canvas(
                width: Double(canvas.width), height: Double(canvas.height), filter: options.resampling
            ).transform(pixels, context: context)
        }
        guard let color = options.background, !pixels.isOpaque else { return pixels }
        return try PixelBuffer.filled(with: color, size: canvas, format: pixels.format, context: context)
            .draw(pixels, context: context)
    }
}
