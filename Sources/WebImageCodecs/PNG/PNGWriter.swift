// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import WebImageCore

/// Encodes pixels through libpng.
enum PNGWriter {
    static func encode(_ pixels: PixelBuffer, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        try requireEncodable(pixels, as: .png, maxSide: Int(Int32.max))
        let effort = try encoding.checkedEffort()
        guard let handle = wi_png_encoder_open() else { throw .decode(.outOfMemory(bytes: pixels.byteCount)) }
        defer { wi_png_encoder_close(handle) }
        try check(
            wi_png_encoder_start(
                handle, UInt32(pixels.width), UInt32(pixels.height), pixels.isOpaque ? 1 : 0, Int32(effort ?? -1)),
            handle)
        var row = 0
        while row < pixels.height {
            try context.checkpoint()
            let count = min(rowsPerCheckpoint, pixels.height - row)
            try write(pixels, rows: row..<row + count, to: handle)
            row += count
        }
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try check(wi_png_encoder_finish(handle, &bytes, &count), handle)
        return bytes.map { Data(bytes: $0, count: count) } ?? Data()
    }

    private static func write(_ pixels: PixelBuffer, rows: Range<Int>, to handle: OpaquePointer)
        throws(ImageError)
    {
        let count = UInt32(rows.count)
        if pixels.isOpaque {
            let status = pixels.withUnsafeBytes { bytes in
                let first = bytes.bindMemory(to: UInt8.self).baseAddress.map {
                    $0 + rows.lowerBound * pixels.bytesPerRow
                }
                return wi_png_encoder_rows(handle, first, pixels.bytesPerRow, count)
            }
            return try check(status, handle)
        }
        let straight = StraightAlpha.rows(of: pixels, from: rows.lowerBound, count: rows.count)
        try check(wi_png_encoder_rows(handle, straight, pixels.width * 4, count), handle)
    }

    private static func check(_ status: wi_png_status, _ handle: OpaquePointer) throws(ImageError) {
        guard status != WI_PNG_OK else { return }
        let words = String(cString: wi_png_encoder_message(handle))
        throw .transform(.encodingFailed(format: .png, reason: words))
    }
}
