// SPDX-License-Identifier: MIT

import WebImageCore

/// A bitmap in an icon: color rows, followed by a mask with one bit per pixel. Set bits in the mask mean transparent
/// pixels.
struct ICOBitmap {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let header: DIBHeader
    private let start: Int
    private let format: ImageFormat

    /// The colors begin at `start` in `bytes`, and the format is for errors.
    init(_ bytes: UnsafeBufferPointer<UInt8>, header: DIBHeader, start: Int, format: ImageFormat) {
        self.bytes = bytes
        self.header = header
        self.start = start
        self.format = format
    }

    /// Decodes the pixels, and returns whether color rows are missing. As in other decoders, a missing mask hides no
    /// pixels.
    func decode(allowsPartial: Bool, context: ImageProcessingContext)
        throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool)
    {
        let decoded = try DIBDecoder(header: header, format: format).decode(
            bytes, at: start, allowsPartial: allowsPartial, context: context)
        guard header.compression == .none, !decoded.isPartial, !hasAlpha else { return decoded }
        return (try masked(decoded.pixels, context: context), false)
    }

    private var rowBytes: Int { (header.size.width * header.bitsPerPixel + 31) / 32 * 4 }

    /// Whether the fourth bytes of the pixels contain alpha instead of padding. If so, the mask is ignored.
    private var hasAlpha: Bool {
        guard header.bitsPerPixel == 32 else { return false }
        let end = min(bytes.count, start + rowBytes * header.size.height)
        return stride(from: start + 3, to: end, by: 4).contains { bytes[$0] != 0 }
    }

    private func masked(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let canvas = try PixelCanvas.forDecoding(pixels.size, context: context)
        pixels.withUnsafeBytes { source in
            if let base = source.baseAddress {
                canvas.baseAddress.copyMemory(from: base, byteCount: min(canvas.byteCount, source.count))
            }
        }
        let maskStart = start + rowBytes * header.size.height
        let maskRow = (header.size.width + 31) / 32 * 4
        for line in 0..<header.size.height {
            let place = maskStart + line * maskRow
            guard place + maskRow <= bytes.count else { break }
            let row = canvas.row(header.isTopDown ? line : header.size.height - 1 - line)
            for x in 0..<header.size.width where bytes[place + x / 8] & (0x80 >> UInt8(x % 8)) != 0 {
                (row + x * 4).update(repeating: 0, count: 4)
            }
        }
        let isOpaque = canvas.isEveryPixelOpaque()
        return canvas.finish(isOpaque: isOpaque)
    }
}
