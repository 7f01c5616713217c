// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder for JPEG images, based on libjpeg-turbo.
///
/// The decoder supports gray, YCbCr, RGB, CMYK, and YCCK, in baseline, progressive, and arithmetic coding, with all
/// chroma subsamplings. It uses the accurate inverse DCT and smooth chroma upsampling.
package struct JPEGCoder: FrameSelectingCoder, ReducingImageCoder {
    /// Creates a coder.
    package init() {}

    /// Returns whether the format is JPEG.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .jpeg }

    /// Decodes a JPEG image.
    ///
    /// For a smaller size, the coder decodes fewer DCT coefficients. It chooses the smallest of the scales 1/1, 1/2,
    /// 1/4, and 1/8 that keeps at least twice the requested pixels on each axis, or 1.75 times at 1/2. Then it resamples
    /// the image. The coder scales fine detail less, and noise only if the limits require it, because scaling changes
    /// their light. The limit for pixels applies to the scaled image. If the scaled image exceeds it, the coder chooses
    /// the next smaller scale that still has the requested pixels, or it resamples the rows as it decodes them. The
    /// coefficients of files with several scans are all stored, up to twice the limit for decoded bytes.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, such as
    ///   ``ImageError/DecodingFailure/Reason/truncated(receivedBytes:expectedBytes:)`` if pixels are missing, or an
    ///   ``ImageError/LimitFailure``. A file that lacks only its end marker is complete.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try options.requireStill()
        return try data.withBytes { (bytes) throws(ImageError) in
            let reader = try JPEGReader(bytes, context: context)
            try info.requireAgreement(on: reader.size, format: .jpeg)
            var layout = try DecodeLayout(
                rawSize: reader.size, orientation: info.orientation, options: options, reduction: .fractionsOrRows,
                detail: info?.detail ?? .ordinary, context: context)
            if reader.hasScans { try context.limits.check(coefficientBytes: reader.coefficientBytes) }
            let profile = reader.iccProfile()
            let colors = options.colors(.from(profile: profile, model: reader.colorModel))
            layout.curve = colors.curve
            let color = colors.conversion
            let convertsLast = layout.convertsLast(color)
            let decoded = try Self.decode(
                reader, layout, allowsPartial: options.allowsPartialData, color: convertsLast ? nil : color,
                last: convertsLast ? color : nil, context)
            let pixels = decoded.pixels
            let image = DecodedImage(
                pixels: pixels, scale: options.scale, format: .jpeg,
                metadata: ImageMetadata(
                    storedSize: reader.size, orientation: layout.orientation, bitDepth: reader.depth, hasAlpha: false,
                    isPartial: decoded.isPartial, iccProfile: profile, color: colors.color,
                    sourceCurve: colors.sourceCurve))
            return try GainMapDecoder(coder: self, options: options, context: context).attachJPEG(to: image, of: data)
        }
    }

    /// Decodes an image at the size of a layout, and converts its colors before or after the reduction.
    private static func decode(
        _ reader: borrowing JPEGReader, _ layout: DecodeLayout, allowsPartial: Bool, color: ColorConversion?,
        last: ColorConversion?, _ context: ImageProcessingContext
    ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        if layout.resamplesRows {
            let decoded = try reader.decodeRows(layout, allowsPartial: allowsPartial, color: color)
            return (try layout.finishReduced(decoded.pixels, color: last, context: context), decoded.isPartial)
        }
        let denominator = layout.denominator
        let decoded = try reader.decode(
            denominator: denominator, allowsPartial: allowsPartial, color: color,
            isFinal: !layout.isScaled && layout.orientation == .up && last == nil)
        // libjpeg rounds the reduced size up, but the image itself ends at the exact quotient.
        let extent = (
            width: Double(reader.size.width) / Double(denominator),
            height: Double(reader.size.height) / Double(denominator)
        )
        let pixels = try layout.finish(decoded.pixels, extent: extent, color: last, context: context)
        return (pixels, decoded.isPartial)
    }

    /// Creates a decoder that shows rows as they arrive, or scan after scan if the file has several scans.
    ///
    /// The first preview is the EXIF thumbnail if the file has one with the same aspect ratio. Files with arithmetic
    /// coding have no previews.
    package func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        let layout = try DecodeLayout(
            rawSize: info.storedSize, orientation: info.orientation, options: options, reduction: .fractions,
            detail: info.detail, context: context)
        let stream = try JPEGIncrementalDecoder(probe: info, layout: layout, context: context)
        let decoder = IncrementalDecoderAdapter(stream, probe: info, options: options, layout: layout)
        return JPEGThumbnailDecoder(decoder, probe: info, options: options, layout: layout)
    }

    /// Returns the requirements for the scaled image. For progressive files, they include the coefficients.
    package func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
    ) -> DecodingRequirements? {
        guard var requirements = DecodingRequirements(info, options, .fractions) else { return nil }
        requirements.add(byteCount: info.coefficientBytes)
        requirements.coefficientBytes = info.coefficientBytes
        return requirements
    }

    /// Returns whether the format is JPEG.
    package func canEncode(_ format: ImageFormat) -> Bool { format == .jpeg }

    /// Encodes a still image or the poster frame.
    ///
    /// The default quality is 90. Unless the option is disabled, the Huffman tables are optimized for the image.
    /// Unless a subsampling is requested, chroma has half the resolution below quality 90 and the full resolution from
    /// there on, and always if the color space exceeds Display P3. Grayscale images have one component. The file can
    /// contain the color profile, EXIF with an optional thumbnail, and XMP. Metadata that doesn't fit into a segment is omitted.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)`` or
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)``.
    package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        guard encoding.preservesDynamicRange, let gainMap = image.gainMap else {
            return try JPEGWriter.encode(image, as: encoding, context: context)
        }
        return try JPEGGainMapWriter.encode(image, gainMap: gainMap, as: encoding, context: context) {
            (still, encoding, allowsGray) throws(ImageError) in
            try JPEGWriter.encode(still, as: encoding, allowsGray: allowsGray, context: context)
        }
    }
}
