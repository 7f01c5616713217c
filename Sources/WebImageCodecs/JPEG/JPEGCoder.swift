// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder for JPEG images, based on libjpeg-turbo.
///
/// The decoder supports gray, YCbCr, RGB, CMYK, and YCCK, in baseline, progressive, and arithmetic coding, with all
/// chroma subsamplings. It uses the accurate inverse DCT and smooth chroma upsampling.
package struct JPEGCoder: ImageCoder {
    /// Creates a coder.
    package init() {}

    /// Returns whether the format is JPEG.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .jpeg }

    /// Decodes a JPEG image.
    ///
    /// For a smaller size, the coder decodes fewer DCT coefficients. It chooses the smallest of the scales 1/1, 1/2,
    /// 1/4, and 1/8 that keeps at least twice the requested pixels on each axis. Then it resamples the image.
    ///
    /// - Throws: A decoding error (4xxx), such as
    ///   ``ImageError/DecodingFailure/Reason/truncated(receivedBytes:expectedBytes:)`` if pixels are missing, or a
    ///   limit error (6xxx). A file that lacks only its end marker is complete.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try options.requireStill()
        return try data.withBytes { (bytes) throws(ImageError) in
            let reader = try JPEGReader(bytes, context: context)
            try info.requireAgreement(on: reader.size, format: .jpeg)
            let layout = try DecodeLayout(
                rawSize: reader.size, orientation: info.orientation, options: options, context: context)
            let profile = reader.iccProfile()
            let color = options.conversion(.from(profile: profile, model: reader.colorModel))
            let convertsLast = layout.convertsLast(color)
            let denominator = JPEGReader.denominator(for: layout)
            let decoded = try reader.decode(
                denominator: denominator, allowsPartial: options.allowsPartialData, color: convertsLast ? nil : color)
            // libjpeg rounds the reduced size up, but the image itself ends at the exact quotient.
            let extent = (
                width: Double(reader.size.width) / Double(denominator),
                height: Double(reader.size.height) / Double(denominator)
            )
            let pixels = try layout.finish(
                decoded.pixels, extent: extent, color: convertsLast ? color : nil, context: context)
            return DecodedImage(
                pixels: pixels, scale: options.scale, format: .jpeg,
                metadata: ImageMetadata(
                    storedSize: reader.size, orientation: layout.orientation, bitDepth: reader.depth, hasAlpha: false,
                    isPartial: decoded.isPartial, iccProfile: profile))
        }
    }

    /// Creates a decoder that shows rows as they arrive, or scan after scan if the file has several scans.
    ///
    /// Files with arithmetic coding have no previews.
    package func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        let layout = try DecodeLayout(
            rawSize: info.storedSize, orientation: info.orientation, options: options, context: context)
        let stream = try JPEGIncrementalDecoder(probe: info, layout: layout, context: context)
        return IncrementalDecoderAdapter(stream, probe: info, options: options, layout: layout)
    }

    /// Returns whether the format is JPEG.
    package func canEncode(_ format: ImageFormat) -> Bool { format == .jpeg }

    /// Encodes a still image or the poster frame.
    ///
    /// The default quality is 90. Unless the option is disabled, the Huffman tables are optimized for the image.
    /// Unless a subsampling is requested, chroma has half the resolution below quality 90 and the full resolution from
    /// there on. Grayscale images have one component. The file can contain the color profile, EXIF with an optional
    /// thumbnail, and XMP. Metadata that doesn't fit into a segment is omitted.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)`` or
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)``.
    package func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        try JPEGWriter.encode(image, as: encoding, context: context)
    }
}
