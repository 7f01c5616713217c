// SPDX-License-Identifier: MIT

import WebImageCore

/// The memory that drawing a frame of an animation needs at the same time.
struct AnimationMemory {
    var canvasSize: PixelSize
    var canvasCount = 1
    /// Whether the compositor restores the canvas after a frame, so it holds a copy of the canvas.
    var restoresCanvas = false
    /// The number of pixels of the frame, before it's drawn onto the canvas.
    var framePixels = 0
    var bytesPerFramePixel = 4

    /// The memory in bytes, clamped to the largest number. It includes the copy of the canvas that the caller receives.
    var byteCount: Int {
        let canvases = canvasCount + (restoresCanvas ? 2 : 1)
        let (canvasBytes, isHuge) = (canvasSize.area ?? .max).multipliedReportingOverflow(by: 4 * canvases)
        let (frameBytes, isHugeFrame) = framePixels.multipliedReportingOverflow(by: bytesPerFramePixel)
        let (sum, overflow) = canvasBytes.addingReportingOverflow(frameBytes)
        return isHuge || isHugeFrame || overflow ? .max : sum
    }

    /// Checks the memory before it's allocated. Throws an ``ImageError/LimitFailure`` of the kind
    /// ``ImageError/LimitFailure/Kind/decodedSize``.
    func check(_ limits: ImageLimits) throws(ImageError) {
        guard byteCount <= limits.maxDecodedBytes else {
            throw .limitExceeded(
                ImageError.LimitFailure(
                    .decodedSize, limit: limits.maxDecodedBytes, actual: byteCount,
                    detail: "the canvas, the frame, and their copies of a \(canvasSize) animation"))
        }
    }
}
