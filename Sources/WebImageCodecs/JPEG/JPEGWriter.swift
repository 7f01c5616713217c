// SPDX-License-Identifier: MIT

import CJPEG
import Foundation
import WebImageCore

/// An encoder for JPEG images, based on libjpeg-turbo.
struct JPEGWriter {
    static let defaultQuality = 90
    /// The maximum width and height. JPEG stores sizes in 16 bits, but libjpeg supports only 65,500.
    static let maxDimension = 65_500

    private let pixels: PixelBuffer
    private let background: [UInt8]
    private let context: ImageProcessingContext
    private let handle: OpaquePointer

    /// Encodes a still image. An image of gray pixels has one component if `allowsGray` is `true`.
    static func encode(
        _ image: DecodedImage, as encoding: ImageEncoding, allowsGray: Bool = true, context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        try requireEncodable(image.pixels, as: .jpeg, maxDimension: maxDimension)
        let pixels = try image.pixels.eightBits(context: context)
        let color = encoding.background
        let background = [color.red, color.green, color.blue]
        guard let handle = wi_jpeg_encoder_open() else { throw .decoding(.outOfMemory(byteCount: pixels.byteCount)) }
        defer { wi_jpeg_encoder_close(handle) }
        let isGray = allowsGray && isGray(pixels, image, encoding)
        var options = options(encoding, image.metadata, isGray: isGray)
        try check(wi_jpeg_encoder_start(handle, UInt32(pixels.width), UInt32(pixels.height), &options), handle)
        let writer = JPEGWriter(pixels: pixels, background: background, context: context, handle: handle)
        let metadata = EmbeddedMetadata(checked: image, as: encoding, isGray: isGray)
        try writer.write(metadata, thumbnail: try thumbnail(pixels, encoding, context))
        try writer.writeRows()
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try check(wi_jpeg_encoder_finish(handle, &bytes, &count), handle)
        guard let bytes else { return Data() }
        let file = UnsafeBufferPointer(start: bytes, count: count)
        return try options.is_fine != 0 ? optimized(file, options, context) : Data(file)
    }

    /// Returns a file with quantized coefficients from a file without quantization.
    private static func optimized(
        _ fine: UnsafeBufferPointer<UInt8>, _ options: wi_jpeg_options, _ context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        try context.checkCancellation()
        guard let optimizer = wi_jpeg_optimizer_open() else { throw .decoding(.outOfMemory(byteCount: fine.count)) }
        defer { wi_jpeg_optimizer_close(optimizer) }
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        let status = wi_jpeg_optimizer_run(
            optimizer, fine.baseAddress, fine.count, options.quality, options.is_progressive, &bytes, &count)
        guard status == WI_JPEG_OK, let bytes else {
            let words = String(cString: wi_jpeg_optimizer_message(optimizer))
            throw .processing(.encodingFailed(format: .jpeg, reason: words))
        }
        return Data(bytes: bytes, count: count)
    }

    /// Returns whether to encode one gray component. This requires gray pixels, a gray background if the image isn't
    /// opaque, and no RGB profile, which needs three components.
    private static func isGray(_ pixels: PixelBuffer, _ image: DecodedImage, _ encoding: ImageEncoding) -> Bool {
        let shade = encoding.background
        return EmbeddedMetadata(checked: image, as: encoding).iccProfile == nil
            && (pixels.isOpaque || (shade.red == shade.green && shade.green == shade.blue)) && pixels.isGray()
    }

    private static func options(
        _ encoding: ImageEncoding, _ metadata: ImageMetadata, isGray: Bool
    ) -> wi_jpeg_options {
        let quality = encoding.isLossless ? 100 : encoding.quality ?? Self.defaultQuality
        let subsampling = encoding.chosenSubsampling(quality: quality, metadata)
        return wi_jpeg_options(
            quality: Int32(quality), is_progressive: encoding.isProgressive ? 1 : 0,
            optimizes_tables: encoding.optimizesHuffmanTables ? 1 : 0, is_gray: isGray ? 1 : 0,
            is_fine: encoding.visualScore != nil ? 1 : 0,
            columns: subsampling == .yuv444 ? 1 : 2, rows: subsampling == .yuv420 ? 2 : 1)
    }

    private func write(_ metadata: EmbeddedMetadata, thumbnail: [UInt8]?) throws(ImageError) {
        if let profile = metadata.iccProfile {
            try Self.check(wi_jpeg_encoder_profile(handle, profile, profile.count), handle)
        }
        if let exif = JPEGMetadata.exif(metadata.exif, thumbnail: thumbnail) {
            try write(segment: JPEGMetadata.exifName, exif)
        }
        if let xmp = metadata.xmp, xmp.count + JPEGMetadata.xmpName.count <= JPEGMetadata.maxSegment {
            try write(segment: JPEGMetadata.xmpName, xmp)
        }
    }

    private func write(segment name: [CChar], _ bytes: [UInt8]) throws(ImageError) {
        try Self.check(wi_jpeg_encoder_segment(handle, 1, name, name.count, bytes, bytes.count), handle)
    }

    private func writeRows() throws(ImageError) {
        for row in stride(from: 0, to: pixels.height, by: rowsPerCheckpoint) {
            try context.checkCancellation()
            let count = min(rowsPerCheckpoint, pixels.height - row)
            let status = pixels.withUnsafeBytes { bytes in
                let rows = bytes.bindMemory(to: UInt8.self).baseAddress.map { $0 + row * pixels.bytesPerRow }
                return wi_jpeg_encoder_rows(
                    handle, rows, pixels.bytesPerRow, UInt32(count), pixels.isOpaque ? 1 : 0, background)
            }
            try Self.check(status, handle)
        }
    }

    private static func check(_ status: wi_jpeg_status, _ handle: OpaquePointer) throws(ImageError) {
        guard status != WI_JPEG_OK else { return }
        let words = String(cString: wi_jpeg_encoder_message(handle))
        throw .processing(.encodingFailed(format: .jpeg, reason: words))
    }
}

extension JPEGWriter {
    /// Returns a reduced copy of the image as a separate JPEG file (Exif 2.32, section 4.5.5).
    private static func thumbnail(
        _ pixels: PixelBuffer, _ encoding: ImageEncoding, _ context: ImageProcessingContext
    ) throws(ImageError) -> [UInt8]? {
        guard let side = encoding.thumbnailDimension else { return nil }
        let plan = try TargetSize.fit(width: Double(side), height: Double(side)).plan(for: pixels.size)
        let small = try Resampler.resample(
            pixels, window: plan.window, to: plan.output, filter: .lanczos3, context: context)
        // If the thumbnail is too large for a segment, reduce its quality before omitting it.
        for quality in [80, 50, 25] {
            let thumbnail = ImageEncoding(format: .jpeg, quality: quality).with(\.background, encoding.background)
            let data = try encode(DecodedImage(pixels: small), as: thumbnail, context: context)
            if data.count <= JPEGMetadata.maxThumbnail { return [UInt8](data) }
        }
        return nil
    }
}
