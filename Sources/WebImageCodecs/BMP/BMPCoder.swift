// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder for BMP images, written in Swift.
///
/// The decoder supports all versions of the Windows header and the OS/2 headers, 1 to 32 bits per pixel, bit fields,
/// and run-length encoding.
package struct BMPCoder: FrameSelectingCoder {
    /// Creates a coder.
    package init() {}

    /// The size of BITMAPFILEHEADER, which precedes the bitmap header, in bytes.
    static let fileHeaderSize = 14

    /// Returns whether the format is BMP.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .bmp }

    /// Decodes a BMP image in full and resamples it.
    ///
    /// Pixels that run-length encoding skips are transparent. Alpha is used only if the header specifies bits for it.
    /// If a version 4 or 5 header specifies alpha without bit fields, alpha is ignored if it would make every pixel
    /// transparent.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, such as
    ///   ``ImageError/DecodingFailure/Reason/truncated(receivedBytes:expectedBytes:)`` if pixels are missing, or an
    ///   ``ImageError/LimitFailure``.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try options.requireStill()
        return try data.withBytes { (bytes) throws(ImageError) in
            var reader = ByteReader(bytes, at: Self.fileHeaderSize)
            let header = try DIBHeader(&reader)
            try info.requireAgreement(on: header.size, format: .bmp)
            let layout = try DecodeLayout(rawSize: header.size, options: options, context: context)
            let start = Self.pixelOffset(bytes, afterHeader: reader.offset)
            let decoded = try DIBDecoder(header: header, format: .bmp).decode(
                bytes, at: start, allowsPartial: options.allowsPartialData, context: context)
            return DecodedImage(
                pixels: try layout.finish(decoded.pixels, context: context), scale: options.scale, format: .bmp,
                metadata: ImageMetadata(
                    storedSize: header.size, bitDepth: header.bitsPerPixel <= 8 ? header.bitsPerPixel : 8,
                    hasAlpha: !decoded.pixels.isOpaque, isPartial: decoded.isPartial))
        }
    }

    /// Creates a decoder that shows rows as they arrive.
    ///
    /// Most files store rows from bottom to top. A file with run-length encoding shows no preview before it's
    /// complete.
    package func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        let layout = try DecodeLayout(rawSize: info.storedSize, options: options, context: context)
        return IncrementalDecoderAdapter(
            try BMPIncrementalDecoder(probe: info, context: context), probe: info, options: options, layout: layout)
    }

    /// Returns whether the format is BMP.
    package func canEncode(_ format: ImageFormat) -> Bool { format == .bmp }

    /// Encodes a still image or the poster frame.
    ///
    /// Opaque images have 24 bits per pixel. Other images have 32 bits per pixel and a version 4 header that specifies
    /// alpha. The encoding preserves every visible pixel.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``.
    package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        try BMPWriter.encode(image.pixels, context: context)
    }

    /// Returns the offset of the pixels from the file header, or `afterHeader` if the stored offset isn't valid.
    static func pixelOffset(_ bytes: UnsafeBufferPointer<UInt8>, afterHeader: Int) -> Int {
        var reader = ByteReader(bytes, at: 10)
        guard let stated = reader.uint32().map(Int.init), stated >= Self.fileHeaderSize + 12 else {
            return afterHeader
        }
        return stated
    }
}
