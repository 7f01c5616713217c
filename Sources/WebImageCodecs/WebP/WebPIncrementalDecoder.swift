// SPDX-License-Identifier: MIT

import CWebP
import WebImageCore

/// A decoder for a still WebP file that arrives incrementally, row by row. If a smaller size suffices, libwebp scales
/// the image. libwebp keeps a copy of the data.
struct WebPIncrementalDecoder: IncrementalDecoder, ~Copyable {
    private let handle: OpaquePointer
    private let canvas: IncrementalCanvas
    private let probe: ImageInfo
    private let isScaled: Bool
    private var received = 0
    private var isWhole = false
    private var iccProfile: [UInt8]?
    /// The beginning of the file until it contains the whole profile, or `nil` if it isn't needed.
    private var beginning: [UInt8]?

    init(probe: ImageInfo, layout: DecodeLayout, context: ImageProcessingContext) throws(ImageError) {
        let size = layout.decodedSize
        let canvas = try IncrementalCanvas(size, context: context)
        let stride = canvas.bytesPerRow
        let handle = wi_webp_decoder_open(
            canvas.row(0), stride, stride * (size.height - 1) + size.width * 4, UInt32(size.width),
            UInt32(size.height), size == probe.storedSize ? 0 : 1)
        guard let handle else { throw .decoding(.outOfMemory(byteCount: canvas.byteCount)) }
        self.handle = handle
        self.canvas = canvas
        self.probe = probe
        isScaled = size != probe.storedSize
        beginning = probe.hasICCProfile ? [] : nil
    }

    deinit { wi_webp_decoder_close(handle) }

    mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: ImageProcessingContext
    ) throws(ImageError) {
        readProfile(bytes)
        var given = 0
        while given < bytes.count, !isWhole {
            try context.checkCancellation()
            let count = min(WebPBitmapDecoder.step, bytes.count - given)
            let status = wi_webp_decoder_append(handle, bytes.baseAddress.map { $0 + given }, count)
            given += count
            received += count
            switch status {
            case WI_WEBP_OK: isWhole = true
            case WI_WEBP_MORE: break
            default: throw WebPBitmapDecoder.failure(status, received: received, bytes: canvas.byteCount)
            }
        }
        if isLast, !isWhole { throw WebPBitmapDecoder.failure(WI_WEBP_MORE, received: received) }
    }

    /// Reads the profile, which precedes the pixels and may arrive in several pieces.
    private mutating func readProfile(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard var start = beginning else { return }
        beginning = nil
        start.append(contentsOf: bytes)
        let profile = WebPContainer.leadingProfile(in: start)
        if profile.map({ start.count < $0.upperBound }) ?? (start.count < WebPContainer.leadingChunkHeaderEnd) {
            beginning = start
        } else if let profile {
            iccProfile = Array(start[profile])
        } else {
            iccProfile = start.withUnsafeBufferPointer { WebPContainer($0)?.iccProfile() }
        }
    }

    mutating func image(context: ImageProcessingContext) throws(ImageError) -> IncrementalImage? {
        let height = canvas.size.height
        let done = isWhole ? height : min(height, Int(wi_webp_decoder_rows(handle)))
        guard done > 0 else { return nil }
        let fraction = Double(done) / Double(height)
        let isOpaque = isWhole && !probe.hasAlpha
        let isStraight = probe.hasAlpha && !isScaled
        // `append` passes no data to libwebp after the end of the image.
        let pixels =
            isWhole
            ? try canvas.finish(isOpaque: isOpaque, isStraight: isStraight)
            : try canvas.snapshot(isOpaque: isOpaque, isStraight: isStraight)
        return IncrementalImage(
            pixels: pixels,
            rows: done == height ? probe.storedSize.height : Int(Double(probe.storedSize.height) * fraction),
            passes: isWhole ? 1 : 0, fraction: fraction, isComplete: isWhole, hasAlpha: probe.hasAlpha,
            iccProfile: iccProfile, color: .from(profile: iccProfile))
    }
}
