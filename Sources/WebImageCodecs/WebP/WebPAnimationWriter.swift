// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// An encoder for animations, based on libwebp, which detects the changes between frames automatically.
enum WebPAnimationWriter {
    /// The maximum duration of a frame in milliseconds, because the format stores durations in 24 bits.
    private static let maxDuration = 0xFF_FFFF
    /// The maximum number of plays, because the format stores it in 16 bits.
    private static let maxLoopCount = 0xFFFF

    static func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        let frames = try EncodableFrames(image, as: encoding, maxDimension: WebPWriter.maxDimension, context: context)
        var options = try WebPWriter.options(encoding)
        let handle = wi_webp_animator_open(
            UInt32(frames.size.width), UInt32(frames.size.height), Int32(min(frames.loopCount, maxLoopCount)), &options)
        guard let handle else { throw .decoding(.outOfMemory(byteCount: frames.size.width * frames.size.height * 4)) }
        defer { wi_webp_animator_close(handle) }
        var time = 0
        for place in 0..<frames.count {
            let pixels = try frames.pixels(at: place)
            guard time <= Int32.max else {
                throw .processing(.encodingFailed(format: .webp, reason: "the animation is longer than 24 days"))
            }
            try check(add(pixels, at: Int32(time), to: handle), handle)
            time += min(max(0, frames.durations[place]), maxDuration)
        }
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        try check(wi_webp_animator_finish(handle, Int32(clamping: time), &bytes, &count), handle)
        guard let bytes else { return Data() }
        defer { wi_webp_free(bytes) }
        return try WebPWriter.embed(
            EmbeddedMetadata(checked: image, as: encoding), in: UnsafeBufferPointer(start: bytes, count: count))
    }

    private static func add(_ pixels: PixelBuffer, at time: Int32, to handle: OpaquePointer) -> wi_webp_status {
        if pixels.isOpaque {
            return pixels.withUnsafeBytes {
                wi_webp_animator_add(
                    handle, $0.bindMemory(to: UInt8.self).baseAddress, pixels.bytesPerRow, 1, time)
            }
        }
        let straight = AlphaUnpremultiplier.rows(of: pixels, from: 0, count: pixels.height)
        return wi_webp_animator_add(handle, straight, pixels.width * 4, 0, time)
    }

    private static func check(_ status: wi_webp_status, _ handle: OpaquePointer) throws(ImageError) {
        guard status != WI_WEBP_OK else { return }
        let words = wi_webp_animator_message(handle).map { String(cString: $0) } ?? ""
        throw .processing(.encodingFailed(format: .webp, reason: words.isEmpty ? "libwebp failed" : words))
    }
}
