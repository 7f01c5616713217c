// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import WebImageCore

/// A coder for PNG and animated PNG images.
///
/// The decoder supports all color types and bit depths, transparent colors, and interlacing. It uses libdeflate if
/// possible and libpng otherwise. It decodes the frames of an animated PNG file individually with libpng. If an
/// animation violates the rules, the coder decodes the still image.
package struct PNGCoder: FrameSelectingCoder, ReducingImageCoder, GrowingAnimationCoder {
    /// The maximum number of pixels of an image that's decoded on two threads.
    package static let largestAreaForThreads = PNGFastDecoder.mostPixels

    /// Creates a coder.
    package init() {}

    /// Returns whether the format is PNG or animated PNG.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .png || format == .apng }

    /// Returns whether the checksums of all chunks of a PNG or animated PNG file are correct. The pixels aren't decoded, so
    /// their checksum isn't verified.
    package static func hasValidChecks(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            wi_png_has_valid_checks(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        }
    }

    /// Decodes a PNG image.
    ///
    /// The coder decodes the image in full and then resamples it. If a large image is reduced to a much smaller size,
    /// the coder reduces it row by row, without holding the full image in memory, unless it's interlaced. In this case,
    /// the limit for pixels applies to the result.
    ///
    /// If only checksums are wrong or missing (the CRC of a chunk or the Adler-32 of the compressed pixels), the coder
    /// decodes the image, and ``ImageMetadata/isPartial`` is `true`. Like other decoders that use libpng, it ignores some
    /// ancillary chunks with a wrong checksum, such as `tRNS`.
    ///
    /// The coder decodes the first frame of an animation immediately and the others on demand. It ignores a still
    /// image that isn't part of the animation. An animation has the frames in the file, even if `acTL` contains another
    /// number. If an animation is truncated, the result contains the complete frames, and ``ImageMetadata/isPartial`` is
    /// `true`. If even the first frame is incomplete, the coder throws an error or, if `allowsPartial` is `true`, decodes the
    /// still image.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
    ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try data.withBytes { (bytes) throws(ImageError) in
            let reader = try PNGReader(bytes, keepsPartial: options.allowsPartialData, context: context)
            try info.requireAgreement(on: reader.size, format: .png)
            let wanted = options.effectiveFrames(context.limits)
            let index = APNGIndex.read(bytes, frameLimit: wanted.neededFrames(limit: context.limits.maxFrames))
            if let index, !index.frames.isEmpty || !options.allowsPartialData {
                let operation = APNGDecodeOperation(
                    data: data, index: index, orientation: info.orientation, options: options, context: context)
                return try operation.decode(reader)
            }
            try options.requireStill()
            var layout = try DecodeLayout(
                rawSize: reader.size, orientation: info.orientation, options: options,
                format: options.pixelFormat(reader.depth), reduction: reader.isInterlaced ? .none : .rows,
                context: context)
            let profile = reader.iccProfile()
            let colors = options.colors(reader.conversion(profile: profile))
            layout.curve = colors.curve
            let decoded = try PNGDownscaler(layout: layout, color: colors.conversion, options: options).decode(reader)
            // If the index exists, no frame of the animation is complete.
            let isPartial = decoded.isPartial || index != nil || !reader.hasValidChecks
            return DecodedImage(
                pixels: decoded.pixels, scale: options.scale, format: info?.format ?? .png,
                metadata: ImageMetadata(
                    storedSize: reader.size, orientation: layout.orientation, bitDepth: reader.depth,
                    hasAlpha: reader.hasAlpha, isPartial: isPartial,
                    iccProfile: reader.describingProfile(profile, for: colors),
                    codePoints: reader.color.codePoints, color: colors.color, sourceCurve: colors.sourceCurve))
        }
    }

    /// Creates a decoder that shows rows as they arrive.
    ///
    /// An interlaced image arrives in passes, each of which covers the whole image. This decoder doesn't support
    /// animations, because their first frame can differ from the image at the start of the file.
    package func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        guard info.format == .png else { return nil }
        let layout = try DecodeLayout(
            rawSize: info.storedSize, orientation: info.orientation, options: options, context: context)
        let stream = try PNGIncrementalDecoder(probe: info, context: context)
        return IncrementalDecoderAdapter(stream, probe: info, options: options, layout: layout)
    }

    /// Creates a decoder that shows the frames of an animation as they arrive. The first preview shows the complete
    /// first frame, which can differ from the still image at the start of the file.
    package func makeGrowingDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        guard info.format == .apng, options.size?.dependsOnFrameCount != true else { return nil }
        return try GrowingAnimationDecoder(APNGScanner(), probe: info, options: options, context: context) {
            (file, size, color, context) throws(ImageError) in
            try APNGCompositor(ReceivedAPNGFile(file: file), size: size, color: color, context: context)
        }
    }

    /// Returns the requirements for decoding row by row. Animations, interlaced images, and images that are still being
    /// received are held in memory.
    package func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
    ) -> DecodingRequirements? {
        guard !isIncremental, info.format == .png, !info.isProgressive,
            var requirements = DecodingRequirements(info, options, .rows)
        else { return nil }
        requirements.add(bandOf: info, rows: PNGDownscaler.band, options: options)
        if let area = info.storedSize.area, area <= PNGFastDecoder.mostPixels {
            // The fast decoder holds the pixels and the decompressed data, which has up to 4 bytes per pixel.
            requirements.add(pixelsOf: info.storedSize, bytesPerPixel: 8)
        }
        return requirements
    }

    /// Returns whether the format is PNG or animated PNG.
    package func canEncode(_ format: ImageFormat) -> Bool { format == .png || format == .apng }

    /// Encodes a still image or an animation.
    ///
    /// For still images and poster frames, the coder chooses the layout with the fewest bytes per row. The choices are
    /// a palette of up to 256 colors with alpha, gray with 1 to 8 bits, and full color. The layout contains alpha only
    /// if the image isn't opaque. Pixels with 16 bits per sample keep them. An image becomes an animation only if the
    /// format of the encoding is ``ImageFormat/apng``. Animations have alpha and 8 bits per sample. The file can
    /// contain the color profile, EXIF, and XMP.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``,
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)``, or an ``ImageError/LimitFailure``.
    package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        guard image.isAnimated, encoding.format == .apng else {
            return try PNGWriter.encode(image, as: encoding, context: context)
        }
        return try APNGWriter.encode(image, as: encoding, context: context)
    }
}
