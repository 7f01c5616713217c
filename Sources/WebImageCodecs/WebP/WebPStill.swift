// SPDX-License-Identifier: MIT

import CWebP
import WebImageCore

/// Decodes one WebP bitstream (a still file, or a frame of an animation) through libwebp.
enum WebPStill {
    /// Bytes handed over between two looks at the clock. libwebp keeps what it has done so far.
    static let step = 128 << 10

    /// Decodes into `canvas` with its upper left corner at `x`, `y`.
    ///
    /// - Parameters:
    ///   - size: the bitstream's size, or the one libwebp is to scale it to; must fit into the canvas.
    ///   - allowsPartial: whether rows that never arrived stay transparent instead of being refused.
    /// - Returns: true when all rows arrived.
    static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, into canvas: borrowing PixelCanvas, x: Int = 0, y: Int = 0,
        size: PixelSize, isScaled: Bool, allowsPartial: Bool, context: CodingContext
    ) throws(ImageError) -> Bool {
        let stride = canvas.bytesPerRow
        let handle = wi_webp_decoder_open(
            canvas.row(y) + x * 4, stride, stride * (size.height - 1) + size.width * 4, UInt32(size.width),
            UInt32(size.height), isScaled ? 1 : 0)
        guard let handle else { throw .decode(.outOfMemory(bytes: canvas.byteCount)) }
        defer { wi_webp_decoder_close(handle) }
        var status = WI_WEBP_MORE
        var given = 0
        while status == WI_WEBP_MORE, given < bytes.count {
            try context.checkpoint()
            given = min(bytes.count, given + step)
            status = wi_webp_decoder_update(handle, bytes.baseAddress, given)
        }
        if status == WI_WEBP_OK { return true }
        guard status == WI_WEBP_MORE, allowsPartial else {
            throw failure(status, received: bytes.count, bytes: canvas.byteCount)
        }
        let done = min(size.height, Int(wi_webp_decoder_rows(handle)))
        for row in done..<size.height { (canvas.row(y + row) + x * 4).update(repeating: 0, count: size.width * 4) }
        return false
    }

    /// What a status means to the caller.
    static func failure(_ status: wi_webp_status, received: Int, bytes: Int = 0) -> ImageError {
        switch status {
        case WI_WEBP_MORE: .decode(.truncated(format: .webp, received: received, expected: nil))
        case WI_WEBP_MEMORY: .decode(.outOfMemory(bytes: bytes))
        case WI_WEBP_UNSUPPORTED: .decode(.unsupported(format: .webp, feature: "a feature libwebp does not know"))
        default: .decode(.corrupt(format: .webp, reason: "libwebp cannot read the bitstream"))
        }
    }
}
