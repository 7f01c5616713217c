// SPDX-License-Identifier: MIT

import CWebP
import WebImageCore

/// A decoder for one WebP bitstream (a still image, or a frame of an animation), based on libwebp.
enum WebPBitmapDecoder {
    /// The number of bytes to decode between two checks of the deadline and the cancellation flag. libwebp keeps its
    /// progress between calls.
    static let step = 128 << 10

    /// Decodes into `canvas`, with the top-left corner of the image at `x`, `y`. The size is that of the bitstream, or
    /// the one to which libwebp scales it, and must fit into the canvas. Missing rows stay transparent if
    /// `allowsPartial` is `true`, and otherwise cause an error. Returns `true` if all rows were decoded.
    static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, into canvas: borrowing PixelCanvas, x: Int = 0, y: Int = 0,
        size: PixelSize, isScaled: Bool, allowsPartial: Bool, context: ImageProcessingContext
    ) throws(ImageError) -> Bool {
        let stride = canvas.bytesPerRow
        let handle = wi_webp_decoder_open(
            canvas.row(y) + x * 4, stride, stride * (size.height - 1) + size.width * 4, UInt32(size.width),
            UInt32(size.height), isScaled ? 1 : 0)
        guard let handle else { throw .decoding(.outOfMemory(byteCount: canvas.byteCount)) }
        defer { wi_webp_decoder_close(handle) }
        var status = WI_WEBP_MORE
        var given = 0
        while status == WI_WEBP_MORE, given < bytes.count {
            try context.checkCancellation()
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

    static func failure(_ status: wi_webp_status, received: Int, bytes: Int = 0) -> ImageError {
        switch status {
        case WI_WEBP_MORE: .decoding(.truncated(format: .webp, receivedBytes: received, expectedBytes: nil))
        case WI_WEBP_MEMORY: .decoding(.outOfMemory(byteCount: bytes))
        case WI_WEBP_UNSUPPORTED: .decoding(.unsupportedFeature(format: .webp, feature: "unknown to libwebp"))
        default: .decoding(.corrupted(format: .webp, reason: "libwebp can't decode the bitstream"))
        }
    }
}
