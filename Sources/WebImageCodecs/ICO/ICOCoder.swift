// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder for Windows icons and cursors, written in Swift.
///
/// It decodes embedded PNG files with the PNG coder.
package struct ICOCoder: FrameSelectingCoder {
    /// Creates a coder.
    package init() {}

    static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Returns whether the format is an icon or a cursor.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .ico || format == .cur }

    /// Decodes one image of an icon or a cursor.
    ///
    /// Without a requested size, the coder decodes the largest image with the most bits per pixel. With a size, it
    /// decodes the smallest image that doesn't need to be enlarged. With `frames: .single(n)`, it decodes the image n.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
    ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try context.checkCancellation()
        return try data.withBytes { (bytes) throws(ImageError) in
            let format: ImageFormat = bytes.count > 2 && bytes[2] == 2 ? .cur : .ico
            let directory = try ICODirectory(bytes, format: format)
            let index = try chosen(directory, options)
            let entry = directory.entries[index]
            guard entry.offset < bytes.count else {
                throw .decoding(
                    .truncated(format: format, receivedBytes: bytes.count, expectedBytes: entry.offset + entry.length))
            }
            // Stored lengths are often wrong, and the data of the image determines its end.
            let part = UnsafeBufferPointer(rebasing: bytes[entry.offset...])
            let claim = index == directory.largest ? info : nil
            if part.starts(with: Self.pngSignature) {
                return try decodePNG(Data(part), format, claim, options, context)
            }
            return try decodeBitmap(part, format, claim, options, context)
        }
    }

    private func chosen(_ directory: ICODirectory, _ options: ImageDecodingOptions) throws(ImageError) -> Int {
        guard case .index(let index) = options.frames else { return try directory.best(for: options) }
        guard directory.entries.indices.contains(index) else {
            throw .request(.frameNotFound(index: index, frameCount: directory.entries.count))
        }
        return index
    }

    private func decodePNG(
        _ data: Data, _ format: ImageFormat, _ claim: ImageInfo?, _ options: ImageDecodingOptions,
        _ context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        var inner = options
        inner.frames = .first
        // Icons also contain bitmaps, which are always sRGB.
        inner.requireSRGB()
        let image = try PNGCoder().decode(data, info: nil, options: inner, context: context)
        try claim.requireAgreement(on: image.metadata.storedSize, format: format)
        return DecodedImage(pixels: image.pixels, scale: options.scale, format: format, metadata: image.metadata)
    }

    private func decodeBitmap(
        _ bytes: UnsafeBufferPointer<UInt8>, _ format: ImageFormat, _ claim: ImageInfo?,
        _ options: ImageDecodingOptions,
        _ context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        var reader = ByteReader(bytes)
        var header = try DIBHeader(&reader, format: format)
        header.becomeIcon()
        try claim.requireAgreement(on: header.size, format: format)
        let layout = try DecodeLayout(rawSize: header.size, options: options, context: context)
        let decoded = try ICOBitmap(bytes, header: header, start: reader.offset, format: format)
            .decode(allowsPartial: options.allowsPartialData, context: context)
        return DecodedImage(
            pixels: try layout.finish(decoded.pixels, context: context), scale: options.scale, format: format,
            metadata: ImageMetadata(
                storedSize: header.size, bitDepth: header.bitsPerPixel <= 8 ? header.bitsPerPixel : 8,
                hasAlpha: !decoded.pixels.isOpaque, isPartial: decoded.isPartial))
    }

    /// Returns whether the format is an icon.
    package func canEncode(_ format: ImageFormat) -> Bool { format == .ico }

    /// Encodes a still image or the poster frame in all sizes of ``ImageEncoding/iconDimensions``.
    ///
    /// Images below 64 pixels are stored as bitmaps, and larger images as PNG.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)`` if a side exceeds 256 pixels, or
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)``.
    package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        try ICOWriter.encode(image.pixels, as: encoding, context: context)
    }
}
