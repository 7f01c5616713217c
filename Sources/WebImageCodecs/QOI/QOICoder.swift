// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder for QOI images, written in Swift.
///
/// It supports RGB and RGBA with 8 bits per sample.
package struct QOICoder: FrameSelectingCoder {
    /// Creates a coder.
    package init() {}

    /// Returns whether the format is QOI.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .qoi }

    /// Decodes a QOI image in full and resamples it.
    ///
    /// If the header declares linear samples, the coder converts them to sRGB.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, such as
    ///   ``ImageError/DecodingFailure/Reason/truncated(receivedBytes:expectedBytes:)`` if pixels are missing, or an
    ///   ``ImageError/LimitFailure``.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try options.requireStill()
        return try data.withBytes { (bytes) throws(ImageError) in
            var reader = try QOIReader(bytes)
            try info.requireAgreement(on: reader.size, format: .qoi)
            var layout = try DecodeLayout(rawSize: reader.size, options: options, context: context)
            let codePoints = reader.isLinear ? ColorCodePoints(primaries: 1, transfer: 8) : nil
            let colors = options.colors(.from(codePoints))
            layout.curve = colors.curve
            let reading = PixelImporter(
                reader.size, depth: 8, preservesBitDepth: options.preservesBitDepth,
                color: colors.conversion,
                isZeroed: true)
            var isPartial = false
            let pixels = try reading.pixels(context: context) { (canvas) throws(ImageError) in
                let done = try reader.decode(into: canvas, context: context)
                isPartial = done < reader.size.width * reader.size.height
                guard !isPartial || options.allowsPartialData else {
                    throw .decoding(.truncated(format: .qoi, receivedBytes: bytes.count, expectedBytes: nil))
                }
                return .init(hasAlpha: reader.hasAlpha || isPartial)
            }
            return DecodedImage(
                pixels: try layout.finish(pixels, context: context), scale: options.scale, format: .qoi,
                metadata: ImageMetadata(
                    storedSize: reader.size, hasAlpha: reader.hasAlpha, isPartial: isPartial, codePoints: codePoints,
                    color: colors.color, sourceCurve: colors.sourceCurve))
        }
    }

    /// Returns whether the format is QOI.
    package func canEncode(_ format: ImageFormat) -> Bool { format == .qoi }

    /// Encodes a still image or the poster frame.
    ///
    /// Opaque images have three channels. The encoding preserves every visible pixel.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``.
    package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        try QOIWriter.encode(image.pixels, context: context)
    }
}
