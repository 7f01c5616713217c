// SPDX-License-Identifier: MIT

import CWebP
import WebImageCore

/// A decoder for a still WebP file that arrives incrementally, row by row. If a smaller size suffices, libwebp scales
/// the image. libwebp keeps a copy of the data.
struct WebPStream: PixelStream, ~Copyable {
    private let handle: OpaquePointer
    private let canvas: StreamCanvas
    private let probe: ImageProbe
    private let isScaled: Bool
    private var received = 0
    private var isWhole = false
    private var iccProfile: [UInt8]?

    init(probe: ImageProbe, layout: DecodeLayout, context: CodingContext) throws(ImageError) {
        let size = WebPJob.decodedSize(of: probe.rawSize, layout: layout)
        let canvas = try StreamCanvas(size, context: context)
        let stride = canvas.bytesPerRow
        let handle = wi_webp_decoder_open(
            canvas.row(0), stride, stride * (size.height - 1) + size.width * 4, UInt32(size.width),
            UInt32(size.height), size == probe.rawSize ? 0 : 1)
        guard let handle else { throw .decode(.outOfMemory(bytes: canvas.byteCount)) }
        self.handle = handle
        self.canvas = canvas
        self.probe = probe
        isScaled = size != probe.rawSize
    }

    deinit { wi_webp_decoder_close(handle) }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: CodingContext) throws(ImageError) {
        // The profile precedes the pixels.
        if received == 0, probe.hasICCProfile { iccProfile = WebPContainer(bytes)?.iccProfile() }
        var given = 0
        while given < bytes.count, !isWhole {
            try context.checkpoint()
            let count = min(WebPStill.step, bytes.count - given)
            let status = wi_webp_decoder_append(handle, bytes.baseAddress.map { $0 + given }, count)
            given += count
            received += count
            switch status {
            case WI_WEBP_OK: isWhole = true
            case WI_WEBP_MORE: break
            default: throw WebPStill.failure(status, received: received, bytes: canvas.byteCount)
            }
        }
        if isLast, !isWhole { throw WebPStill.failure(WI_WEBP_MORE, received: received) }
    }

    mutating func picture(context: CodingContext) throws(ImageError) -> StreamPicture? {
        let height = canvas.size.height
        let done = isWhole ? height : min(height, Int(wi_webp_decoder_rows(handle)))
        guard done > 0 else { return nil }
        let fraction = Double(done) / Double(height)
        return StreamPicture(
            pixels: try canvas.snapshot(
                isOpaque: isWhole && !probe.hasAlpha, isStraight: probe.hasAlpha && !isScaled),
            rows: done == height ? probe.rawSize.height : Int(Double(probe.rawSize.height) * fraction),
            passes: isWhole ? 1 : 0, fraction: fraction, isComplete: isWhole, hasAlpha: probe.hasAlpha,
            iccProfile: iccProfile, color: .from(profile: iccProfile))
    }
}
