// SPDX-License-Identifier: MIT

import WebImageCore

/// A canvas that a stream decoder fills incrementally. Pixels that aren't decoded yet are transparent.
final class IncrementalCanvas {
    private let pixels: PixelCanvas

    /// Creates a transparent canvas.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of kind `decodedSize`, or
    ///   ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    init(_ size: PixelSize, context: ImageProcessingContext) throws(ImageError) {
        pixels = try PixelCanvas.forDecoding(size, zeroed: true, context: context)
    }

    var size: PixelSize { pixels.size }
    var bytesPerRow: Int { pixels.bytesPerRow }
    var byteCount: Int { pixels.byteCount }

    /// Returns the address of a row. The pointer is valid during the lifetime of the canvas.
    func row(_ row: Int) -> UnsafeMutablePointer<UInt8> { pixels.row(row) }

    /// Returns a copy of the current pixels.
    ///
    /// - Parameters:
    ///   - isOpaque: `true` if every alpha value is known to be at its maximum. Otherwise, this method checks the
    ///     pixels.
    ///   - isStraight: A Boolean value that indicates whether the colors still have to be multiplied by alpha.
    func snapshot(isOpaque: Bool, isStraight: Bool = false) throws(ImageError) -> PixelBuffer {
        let copy = try PixelCanvas(size: size, cleared: false)
        copy.baseAddress.copyMemory(from: pixels.baseAddress, byteCount: byteCount)
        if isStraight, !isOpaque { copy.premultiply(rows: 0..<size.height) }
        let isOpaque = isOpaque || copy.isEveryPixelOpaque()
        return copy.finish(isOpaque: isOpaque)
    }
}
