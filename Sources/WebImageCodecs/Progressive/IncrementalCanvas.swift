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

    /// Returns an opaque copy of the current pixels in which the completely black tiles are transparent, for decoders
    /// that fill tiles without data with black. A tile that is black in the image is visible only at the end.
    ///
    /// - Parameter side: The side of a tile, in pixels.
    /// - Returns: The copy and the number of rows above the first black tile, or `nil` if all tiles are black.
    func snapshotWithoutBlackTiles(
        side: Int
    ) throws(ImageError) -> (pixels: PixelBuffer, rows: Int)? {
        let copy = try PixelCanvas(size: size, cleared: false)
        copy.baseAddress.copyMemory(from: pixels.baseAddress, byteCount: byteCount)
        var rows = size.height
        var isVisible = false
        for y in stride(from: 0, to: size.height, by: side) {
            for x in stride(from: 0, to: size.width, by: side) {
                let part = PixelRect(x: x, y: y, width: side, height: side).clamped(to: size)
                guard let part, isBlack(part) else {
                    isVisible = true
                    continue
                }
                for row in part.y..<part.y + part.height {
                    (copy.row(row) + part.x * 4).update(repeating: 0, count: part.width * 4)
                }
                rows = min(rows, y)
            }
        }
        guard isVisible else { return nil }
        return (copy.finish(isOpaque: rows == size.height), rows)
    }

    private func isBlack(_ part: PixelRect) -> Bool {
        (part.y..<part.y + part.height).allSatisfy { y in
            let start = pixels.row(y) + part.x * 4
            return (0..<part.width).allSatisfy { x in
                start[x * 4] == 0 && start[x * 4 + 1] == 0 && start[x * 4 + 2] == 0
            }
        }
    }
}
