// SPDX-License-Identifier: MIT

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

    /// Decodes a PNG image.
    ///
    /// The coder decodes the image in full and then resamples it. If a large image is reduced to a much smaller size,
    /// the coder reduces it row by row, without holding the full image in memory, unless it's interlaced. In this case,
    /// the limit for pixels applies to the result. Invalid checksums of critical chunks are errors, but those of other
    /// chunks aren't.
    ///
    /// The coder decodes the first frame of an animation immediately and the others on demand. It ignores a still
    /// image that isn't part of the animation. If an animation is truncated and `allowsPartial` is `true`, the result
    /// contains the complete frames.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
    ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try data.withBytes { (bytes) throws(ImageError) in
            let reader = try PNGReader(bytes, keepsPartial: options.allowsPartialData, context: context)
            try info.requireAgreement(on: reader.size, format: .png)
            let animation = APNGDecodeOperation(
                data, bytes, orientation: info.orientation, options: options, context: context)
            if let animation { return try animation.decode(reader) }
            try options.requireStill()
            var layout = try DecodeLayout(
                rawSize: reader.size, orientation: info.orientation, options: options,
                format: options.pixelFormat(reader.depth), reduction: reader.isInterlaced ? .none : .rows,
                context: context)
            let profile = reader.iccProfile()
            let colors = options.colors(reader.conversion(profile: profile))
            layout.curve = colors.curve
            let decoded = try PNGDownscaler(layout: layout, color: colors.conversion, options: options).decode(reader)
            return DecodedImage(
                pixels: decoded.pixels, scale: options.scale, format: info?.format ?? .png,
                metadata: ImageMetadata(
                    storedSize: reader.size, orientation: layout.orientation, bitDepth: reader.depth,
                    hasAlpha: reader.hasAlpha, isPartial: decoded.isPartial,
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
