// SPDX-License-Identifier: MIT

import CJPEG
import Foundation
import WebImageCore

/// Encodes pixels through libjpeg-turbo.
enum JPEGWriter {
    /// JPEG's sizes are 16 bits wide; libjpeg stops at 65,500.
    static let maxSide = 65_500

    static func encode(_ pixels: PixelBuffer, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        try requireEncodable(pixels, as: .jpeg, maxSide: maxSide)
        guard encoding.background.count == 3 else {
            throw .request(.invalidOption(name: "background", value: "\(encoding.background)"))
        }
        guard let handle = wi_jpeg_encoder_open() else { throw .decode(.outOfMemory(bytes: pixels.byteCount)) }
        defer { wi_jpeg_encoder_close(handle) }
        let quality = encoding.isLossless ? 100 : encoding.quality ?? 90
        try check(
            wi_jpeg_encoder_start(
                handle, UInt32(pixels.width), UInt32(pixels.height), Int32(quality), encoding.isProgressive ? 1 : 0,
                quality >= 90 ? 1 : 0), handle)
        try write(pixels, background: encoding.background, to: handle, context: context)
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try check(wi_jpeg_encoder_finish(handle, &bytes, &count), handle)
        return bytes.map { Data(bytes: $0, count: count) } ?? Data()
    }

    private static func write(
        _ pixels: PixelBuffer, background: [UInt8], to handle: OpaquePointer, context: CodingContext
    ) throws(ImageError) {
        var row = 0
        while row < pixels.height {
            try context.checkpoint()
            let count = min(rowsPerCheckpoint, pixels.height - row)
            let status = pixels.withUnsafeBytes { bytes in
                let rows = bytes.bindMemory(to: UInt8.self).baseAddress.map { $0 + row * pixels.bytesPerRow }
                return wi_jpeg_encoder_rows(
                    handle, rows, pixels.bytesPerRow, UInt32(count), pixels.isOpaque ? 1 : 0, background)
            }
            try check(status, handle)
            row += count
        }
    }

    private static func check(_ status: wi_jpeg_status, _ handle: OpaquePointer) throws(ImageError) {
        guard status != WI_JPEG_OK else { return }
        let words = String(cString: wi_jpeg_encoder_message(handle))
        throw .transform(.encodingFailed(format: .jpeg, reason: words))
    }
}
