// SPDX-License-Identifier: MIT

import WebImageCore

/// A canvas that a stream decoder fills incrementally. Pixels that aren't decoded yet are transparent.
///
/// After ``finish(isOpaque:isStraight:)``, the memory belongs to the image. The decoder must not write to it, even with
/// addresses that it received before.
final class IncrementalCanvas {
    let size: PixelSize
    let bytesPerRow: Int
    let byteCount: Int
    /// The writable memory, or `nil` after the canvas was finished.
    private var canvas: PixelCanvas?
    /// The image, or `nil` before the canvas is finished.
    private var finished: PixelBuffer?

    /// Creates a transparent canvas. Throws an ``ImageError/LimitFailure`` of kind `decodedSize`, or
    /// ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    init(_ size: PixelSize, context: ImageProcessingContext) throws(ImageError) {
        let canvas = try PixelCanvas.forDecoding(size, zeroed: true, context: context)
        self.size = size
        bytesPerRow = canvas.bytesPerRow
        byteCount = canvas.byteCount
        self.canvas = consume canvas
    }

    /// Returns the address of a row, or `nil` if the canvas is finished. The pointer is valid during the lifetime of the
    /// canvas.
    func row(_ row: Int) -> UnsafeMutablePointer<UInt8>? { canvas?.row(row) }

    /// Returns a copy of the current pixels. If the canvas is finished, this method returns its image. `isOpaque` is
    /// `true` if every alpha value is known to be at its maximum. Otherwise, this method checks the pixels. If
    /// `isStraight` is `true`, the colors still have to be multiplied by alpha.
    func snapshot(isOpaque: Bool, isStraight: Bool = false) throws(ImageError) -> PixelBuffer {
        if let finished { return finished }
        return try copy().image(isOpaque: isOpaque, isStraight: isStraight)
    }

    /// Ends writing and returns the pixels without copying them. Further calls return the same image. Call this method
    /// after all pixels were decoded. Addresses of rows must not be used for writing afterward. The parameters are
    /// those of ``snapshot(isOpaque:isStraight:)``.
    func finish(isOpaque: Bool, isStraight: Bool = false) throws(ImageError) -> PixelBuffer {
        guard let canvas = canvas.take() else { return try snapshot(isOpaque: isOpaque, isStraight: isStraight) }
        let image = canvas.image(isOpaque: isOpaque, isStraight: isStraight)
        finished = image
        return image
    }

    private func copy() throws(ImageError) -> PixelCanvas {
        let copy = try PixelCanvas(size: size, cleared: false)
        if let source = row(0) { copy.baseAddress.copyMemory(from: source, byteCount: byteCount) }
        return copy
    }

    /// Returns a copy of the current pixels for decoders that fill missing tiles with black, or with transparent black
    /// if the image has alpha. Such tiles are transparent in the copy. A tile that is black in the image is therefore
    /// visible only at the end. The side of a tile is in pixels. The result includes the number of rows above the first
    /// missing tile, and is `nil` if all tiles are missing.
    func snapshot(
        withoutBlackTiles side: Int, hasAlpha: Bool, isStraight: Bool
    ) throws(ImageError) -> (pixels: PixelBuffer, rows: Int)? {
        let copy = try copy()
        var rows = size.height
        var isVisible = false
        for y in stride(from: 0, to: size.height, by: side) {
            for x in stride(from: 0, to: size.width, by: side) {
                let tile = PixelRect(x: x, y: y, width: side, height: side).clamped(to: size)
                guard let tile, copy.isBlack(tile, hasAlpha: hasAlpha) else {
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
        if isStraight { copy.premultiply(rows: 0..<size.height) } else { copy.limitColors() }
        return (copy.finish(isOpaque: !hasAlpha && rows == size.height), rows)
    }
}

extension PixelCanvas {
    /// Ends writing and returns the pixels. The parameters are those of
    /// ``IncrementalCanvas/snapshot(isOpaque:isStraight:)``.
    fileprivate consuming func image(isOpaque: Bool, isStraight: Bool) -> PixelBuffer {
        if isStraight, !isOpaque {
            premultiply(rows: 0..<size.height)
        } else if !isOpaque {
            limitColors()
        }
        let isOpaque = isOpaque || isEveryPixelOpaque()
        return finish(isOpaque: isOpaque)
    }

    /// Returns whether all samples of a tile are 0, except for alpha if the image has none.
    fileprivate borrowing func isBlack(_ tile: PixelRect, hasAlpha: Bool) -> Bool {
        (tile.y..<tile.y + tile.height).allSatisfy { y in
            let start = row(y) + tile.x * 4
            return (0..<tile.width).allSatisfy { x in
                start[x * 4] == 0 && start[x * 4 + 1] == 0 && start[x * 4 + 2] == 0
                    && (!hasAlpha || start[x * 4 + 3] == 0)
            }
        }
    }
}
