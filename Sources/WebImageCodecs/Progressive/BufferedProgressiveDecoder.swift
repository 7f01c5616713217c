// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A type that decodes a part of an incomplete file.
protocol PartialFileDecoder: ~Copyable {
    /// Returns a preview of the file that begins with `prefix`, or `nil` if there's nothing new to display. The prefix
    /// begins with that of the previous calls. An error ends the previews but not the decode of the complete file.
    mutating func preview(of prefix: Data, context: ImageProcessingContext) throws(ImageError) -> ImagePreview?
}

/// A progressive decoder for formats whose libraries read a file in any order. It retains the received data, and
/// decodes the complete file with the coder after the last data.
final class BufferedProgressiveDecoder<Partial: PartialFileDecoder & ~Copyable>: ProgressiveImageDecoder {
    private struct State: ~Copyable {
        var partial: Partial
        var data = Data()
        var displayedByteCount = 0
        var isFinished = false
        var hasPreviews = true
        /// The image of the complete file, until the caller receives it.
        var image: DecodedImage?
        var failure: ImageError?
    }

    private let coder: any ImageCoder
    private let probe: ImageInfo
    private let options: ImageDecodingOptions
    private let state: Lock<State>

    /// `partial` decodes incomplete files, and `coder` decodes the complete file.
    init(
        _ partial: consuming sending Partial, coder: any ImageCoder, probe: ImageInfo, options: ImageDecodingOptions
    ) {
        self.coder = coder
        self.probe = probe
        var options = options
        options.frames = .first
        options.preservesBitDepth = false
        options.dynamicRange = .standard
        self.options = options
        state = Lock(State(partial: partial))
    }

    func append(_ bytes: Data, isLast: Bool, context: ImageProcessingContext) throws(ImageError) {
        try state.withLock { (state) throws(ImageError) in
            if let failure = state.failure { throw failure }
            guard !state.isFinished else { return }
            do throws(ImageError) {
                try context.limits.check(encodedBytes: state.data.count + bytes.count)
                try context.checkCancellation()
                state.data.append(bytes)
                guard isLast else { return }
                state.isFinished = true
                state.image = try coder.decode(state.data, info: probe, options: options, context: context)
                state.data = Data()
            } catch {
                state.failure = error
                throw error
            }
        }
    }

    func makePreview(context: ImageProcessingContext) throws(ImageError) -> ImagePreview? {
        try state.withLock { (state) throws(ImageError) -> ImagePreview? in
            if let failure = state.failure { throw failure }
            if state.isFinished { return state.image.take().map { complete($0) } }
            guard state.hasPreviews, state.data.count > state.displayedByteCount else { return nil }
            state.displayedByteCount = state.data.count
            do throws(ImageError) {
                return try state.partial.preview(of: state.data, context: context)
            } catch {
                try context.checkCancellation()
                state.hasPreviews = false
                return nil
            }
        }
    }

    private func complete(_ image: DecodedImage) -> ImagePreview {
        ImagePreview(
            image: image, completedRows: image.metadata.storedSize.height, completedPasses: 1, passCount: nil,
            fractionCompleted: 1, isComplete: true)
    }
}
