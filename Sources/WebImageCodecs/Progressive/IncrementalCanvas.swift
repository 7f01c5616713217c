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

    /// Returns a copy of the current pixels for decoders that fill missing tiles with black, or with transparent black
    /// if the image has alpha. Such tiles are transparent in the copy. A tile that is black in the image is therefore
    /// visible only at the end.
    ///
    /// - Parameters:
    ///   - side: The side of a tile, in pixels.
    ///   - hasAlpha: A Boolean value that indicates whether the image has alpha.
    ///   - isStraight: A Boolean value that indicates whether the colors still have to be multiplied by alpha.
    /// - Returns: The copy and the number of rows above the first missing tile, or `nil` if all tiles are missing.
    func snapshot(
        withoutBlackTiles side: Int, hasAlpha: Bool, isStraight: Bool
    ) throws(ImageError) -> (pixels: PixelBuffer, rows: Int)? {
        let copy = try PixelCanvas(size: size, cleared: false)
        copy.baseAddress.copyMemory(from: pixels.baseAddress, byteCount: byteCount)
        var rows = size.height
        var isVisible = false
        for y in stride(from: 0, to: size.height, by: side) {
            for x in stride(from: 0, to: size.width, by: side) {
                let tile = PixelRect(x: x, y: y, width: side, height: side).clamped(to: size)
                guard let tile, isBlack(tile, hasAlpha: hasAlpha) else {
                    isVisible = true
                    continue
                }
                for row in tile.y..<tile.y + tile.height {
                    (copy.row(row) + tile.x * 4).update(repeating: 0, count: tile.width * 4)
                }
                rows = min(rows, y)
            }
        }
        guard isVisible else { return nil }
        if isStraight { copy.premultiply(rows: 0..<size.height) }
        return (copy.finish(isOpaque: !hasAlpha && rows == size.height), rows)
    }

    /// Returns whether all samples of a tile are 0, except for alpha if the image has none.
    private func isBlack(_ tile: PixelRect, hasAlpha: Bool) -> Bool {
        (tile.y..<tile.y + tile.height).allSatisfy { y in
            let start = pixels.row(y) + tile.x * 4
            return (0..<tile.width).allSatisfy { x in
                start[x * 4] == 0 && start[x * 4 + 1] == 0 && start[x * 4 + 2] == 0
                    && (!hasAlpha || start[x * 4 + 3] == 0)
            }
        }
    }
}
