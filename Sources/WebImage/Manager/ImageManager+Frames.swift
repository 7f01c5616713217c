// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

extension ImageManager {
    /// Decodes a frame of an animation on a worker thread, and prepares its pixels for the toolkit. Animation players
    /// use this method.
    ///
    /// - Parameters:
    ///   - index: The index of the frame.
    ///   - animation: The animation.
    ///   - cost: The size of the decoded pixels, in bytes.
    /// - Throws: An ``ImageError`` if the frame can't be decoded, if the calling Swift task is canceled, or if too much
    ///   work is waiting.
    package func decodeFrame(
        at index: Int, of animation: ImageAnimation, cost: Int
    ) async throws(ImageError) -> PixelBuffer {
        let preparation = pipeline.preparation
        return try await pipeline.workers.run(
            cost: cost, priority: SharedPriority(.high), limits: configuration.limits
        ) { (_) throws(ImageError) in
            let pixels = try animation.frame(at: index)
            preparation(pixels)
            return pixels
        }
    }
}
