// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import WebImageCore

/// An encoder for PNG images, based on libpng.
struct PNGWriter {
    private let pixels: PixelBuffer
    private let context: ImageProcessingContext
    private let handle: OpaquePointer

    static func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        let pixels = image.pixels
        try requireEncodable(pixels, as: .png, maxDimension: Int(Int32.max))
        let effort = try encoding.checkedEffort()
        guard let handle = wi_png_encoder_open() else { throw .decoding(.outOfMemory(byteCount: pixels.byteCount)) }
        defer { wi_png_encoder_close(handle) }
        guard let survey = wi_png_survey_open() else { throw .decoding(.outOfMemory(byteCount: pixels.byteCount)) }
        defer { wi_png_survey_close(survey) }
        let writer = PNGWriter(pixels: pixels, context: context, handle: handle)
        var layout = wi_png_layout(
            width: UInt32(pixels.width), height: UInt32(pixels.height), kind: WI_PNG_RGBA, bits: 8,
            effort: Int32(effort ?? -1))
        // The color model of the profile and of the samples must match, either gray or RGB.
        var metadata = EmbeddedMetadata(checked: image, as: encoding)
        let grayMetadata = EmbeddedMetadata(checked: image, as: encoding, isGray: true)
        let hasGrayProfile = grayMetadata.iccProfile != nil
        try writer.choose(
            &layout, survey, allowsGray: metadata.iccProfile == nil && !metadata.hasCodePoints,
            allowsColor: !hasGrayProfile)
        if layout.kind == WI_PNG_GRAY || layout.kind == WI_PNG_GRAY_ALPHA { metadata = grayMetadata }
        try check(wi_png_encoder_start(handle, &layout, survey), handle)
        try check(embed(metadata, handle), handle)
        try writer.writeRows()
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try check(wi_png_encoder_finish(handle, &bytes, &count), handle)
        return bytes.map { Data(bytes: $0, count: count) } ?? Data()
    }

    static func embed(_ metadata: EmbeddedMetadata, _ handle: OpaquePointer) -> wi_png_status {
        var code: [UInt8] = []
        if let points = metadata.codePoints, metadata.hasCodePoints {
            // The samples are RGB (matrix 0) and use the full range.
            code = [UInt8(clamping: points.primaries), UInt8(clamping: points.transfer), 0, 1]
        }
        return metadata.withBytes { icc, exif, xmp in
            wi_png_encoder_embed(
                handle, code.isEmpty ? nil : code, icc.baseAddress, icc.count, exif.baseAddress, exif.count,
                xmp.baseAddress, xmp.count)
        }
    }

    private func choose(
        _ layout: inout wi_png_layout, _ survey: OpaquePointer, allowsGray: Bool, allowsColor: Bool
    ) throws(ImageError) {
        guard !pixels.format.layout.isWide else {
            let isGray = allowsGray && pixels.isGray()
            layout.bits = 16
            layout.kind =
                isGray
                ? (pixels.isOpaque ? WI_PNG_GRAY : WI_PNG_GRAY_ALPHA) : pixels.isOpaque ? WI_PNG_RGB : WI_PNG_RGBA
            return
        }
        for row in stride(from: 0, to: pixels.height, by: rowsPerCheckpoint) {
            try context.checkCancellation()
            let count = min(rowsPerCheckpoint, pixels.height - row)
            let straight = AlphaUnpremultiplier.rows(of: pixels, from: row, count: count)
            guard wi_png_survey_add(survey, straight, pixels.width * count) else { break }
        }
        wi_png_survey_choose(survey, pixels.isOpaque, allowsGray, allowsColor, &layout)
    }

    private func writeRows() throws(ImageError) {
        for row in stride(from: 0, to: pixels.height, by: rowsPerCheckpoint) {
            try context.checkCancellation()
            let count = min(rowsPerCheckpoint, pixels.height - row)
            try Self.check(write(row..<row + count), handle)
        }
    }

    private func write(_ rows: Range<Int>) -> wi_png_status {
        let (first, count) = (rows.lowerBound, UInt32(rows.count))
        if pixels.isOpaque {
            return pixels.withUnsafeBytes {
                wi_png_encoder_rows(
                    handle, $0.baseAddress.map { $0 + first * pixels.bytesPerRow }, pixels.bytesPerRow, count)
            }
        }
        let straight = AlphaUnpremultiplier.rows(of: pixels, from: first, count: rows.count)
        return wi_png_encoder_rows(handle, straight, pixels.width * pixels.format.bytesPerPixel, count)
    }

    private static func check(_ status: wi_png_status, _ handle: OpaquePointer) throws(ImageError) {
        guard status != WI_PNG_OK else { return }
        let words = String(cString: wi_png_encoder_message(handle))
        throw .processing(.encodingFailed(format: .png, reason: words))
    }
}
