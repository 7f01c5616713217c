// SPDX-License-Identifier: MIT

import WebImageCore

/// The pixels a stream writes as they come; what did not come is transparent.
final class StreamCanvas {
    private let pixels: PixelCanvas

    /// - Throws: a ``LimitError`` of kind decodedBytes, ``DecodeError/outOfMemory(bytes:)``.
    init(_ size: PixelSize, context: CodingContext) throws(ImageError) {
        pixels = try PixelCanvas.forDecoding(size, zeroed: true, context: context)
    }

    var size: PixelSize { pixels.size }
    var bytesPerRow: Int { pixels.bytesPerRow }
    var byteCount: Int { pixels.byteCount }

    /// Address of row `row`; valid as long as the canvas lives.
    func row(_ row: Int) -> UnsafeMutablePointer<UInt8> { pixels.row(row) }

    /// A copy of the present pixels.
    ///
    /// - Parameters:
    ///   - isOpaque: true where every alpha is known to be at its maximum; else it is looked at.
    ///   - isStraight: whether the canvas holds colours that are yet to be multiplied by alpha.
    func snapshot(isOpaque: Bool, isStraight: Bool = false) throws(ImageError) -> PixelBuffer {
        let copy = try PixelCanvas(size: size, zeroed: false)
        copy.baseAddress.copyMemory(from: pixels.baseAddress, byteCount: byteCount)
        if isStraight, !isOpaque { copy.premultiply(rows: 0..<size.height) }
        let isOpaque = isOpaque || copy.isEveryPixelOpaque()
        return copy.finish(isOpaque: isOpaque)
    }
}
