// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder for the formats of Netpbm (PBM, PGM, PPM, and PAM), written in Swift.
///
/// The decoder supports text and binary samples (`P1` to `P7`) with a maximum from 1 to 65,535. Samples above the maximum
/// count as the maximum. A file can contain several images, of which the first one is decoded. The samples are sRGB, as in
/// other programs.
package struct PNMCoder: FrameSelectingCoder, ReducingImageCoder {
    private static let formats: Set<ImageFormat> = [.pbm, .pgm, .ppm, .pam]

    /// Creates a coder.
    package init() {}

    /// Returns whether the format is PBM, PGM, PPM, or PAM.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool {
        format.map { Self.formats.contains($0) } ?? false
    }

    /// Decodes an image.
    ///
    /// The coder decodes the image in full and then resamples it. If a large image is reduced to a much smaller size,
    /// the coder reduces it row by row, without holding the full image in memory. In this case, the limit for pixels
    /// applies to the result.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, such as
    ///   ``ImageError/DecodingFailure/Reason/truncated(receivedBytes:expectedBytes:)`` if pixels are missing, or an
    ///   ``ImageError/LimitFailure``.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try options.requireStill()
        return try data.withBytes { (bytes) throws(ImageError) in
            let header = try PNMHeader(bytes)
            try info.requireAgreement(on: header.size, format: header.format)
            let layout = try DecodeLayout(
                rawSize: header.size, options: options, format: options.pixelFormat(header.bitDepth), reduction: .rows,
                context: context)
            let decoder = PNMDecoder(header, bytes, options: options, context: context)
            let decoded: (pixels: PixelBuffer, isPartial: Bool)
            let pixels: PixelBuffer
            if layout.isMuchSmaller {
                decoded = try decoder.reduce(layout)
                pixels = try layout.finishReduced(decoded.pixels, color: nil, context: context)
            } else {
                decoded = try decoder.decode()
                pixels = try layout.finish(decoded.pixels, context: context)
            }
            return DecodedImage(
                pixels: pixels, scale: options.scale, format: header.format,
                metadata: ImageMetadata(
                    storedSize: header.size, bitDepth: header.bitDepth, hasAlpha: header.hasAlpha,
                    isPartial: decoded.isPartial))
        }
    }

    /// Creates a decoder that shows rows as they arrive.
    package func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        let layout = try DecodeLayout(rawSize: info.storedSize, options: options, context: context)
        return IncrementalDecoderAdapter(
            try PNMIncrementalDecoder(probe: info, context: context), probe: info, options: options, layout: layout)
    }

    /// Returns the requirements for decoding row by row. Images that are still being received are held in memory.
    package func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
    ) -> DecodingRequirements? {
        guard !isIncremental, Self.formats.contains(info.format),
            var requirements = DecodingRequirements(info, options, .rows)
        else { return nil }
        requirements.add(bandOf: info, rows: PNMDecoder.band, options: options)
        return requirements
    }

    /// Returns whether the format is PGM, PPM, or PAM.
    package func canEncode(_ format: ImageFormat) -> Bool { format != .pbm && Self.formats.contains(format) }

    /// Encodes a still image or the poster frame with binary samples.
    ///
    /// The file has 8 or 16 bits per sample, like the pixels. PAM preserves every visible pixel. In PPM and PGM, the
    /// background of the encoding shows through transparent pixels, and PGM contains the luminance (Rec. 709 weights).
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``.
    package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        try PNMWriter(image.pixels, as: encoding).encode(context: context)
    }
}
