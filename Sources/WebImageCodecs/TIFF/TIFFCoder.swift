// SPDX-License-Identifier: MIT

#if TIFF
    import Foundation
    import WebImageCore

    /// A coder for TIFF and BigTIFF images, based on libtiff.
    ///
    /// The decoder supports strips and tiles, all compressions of libtiff, 1 to 16 bits per sample, palettes, CMYK,
    /// YCbCr, and multiple pages. This type requires the package trait `TIFF`.
    package struct TIFFCoder: ImageCoder {
        /// The compression of the pixels.
        package enum Compression: Sendable, Hashable {
            /// No compression.
            case none
            /// LZW compression of the differences between neighboring pixels.
            case lzw
            /// Deflate compression of the differences between neighboring pixels.
            case deflate
        }

        private let compression: Compression

        /// Creates a coder.
        ///
        /// - Parameter compression: The compression of encoded images. The default is Deflate.
        package init(compression: Compression = .deflate) { self.compression = compression }

        /// Returns whether the format is TIFF.
        package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .tiff }

        /// Decodes one page of a TIFF file.
        ///
        /// The coder decodes the first page, or the page n for `frames: .single(n)`. It decodes the full page,
        /// resamples it, and applies the orientation. Multiple pages don't become an animation. If `allowsPartial` is
        /// `true`, corrupt or missing parts keep the contents that libtiff produces.
        ///
        /// - Throws: A decoding error (4xxx), a limit error (6xxx), or
        ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
        package func decode(
            _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
        )
            throws(ImageError) -> DecodedImage
        {
            try context.checkCancellation()
            return try data.withBytes { (bytes) throws(ImageError) in
                let reader = try TIFFReader(bytes, limits: context.limits)
                let page = try reader.page(options.firstIndex, limits: context.limits)
                if options.firstIndex == 0 { try info.requireAgreement(on: page.size, format: .tiff) }
                let format: PixelFormat = page.isDeep ? options.pixelFormat(page.depth) : .rgba8
                let layout = try DecodeLayout(
                    rawSize: page.size, orientation: page.orientation, options: options, format: format,
                    context: context)
                let color = options.conversion(
                    page.colorModel.flatMap { .from(profile: page.iccProfile, model: $0) })
                let convertsLast = layout.convertsLast(color)
                let decoded = try reader.decode(
                    page, color: convertsLast ? nil : color, format: format, allowsPartial: options.allowsPartialData,
                    context: context)
                let pixels = try layout.finish(decoded.pixels, color: convertsLast ? color : nil, context: context)
                return DecodedImage(
                    pixels: pixels, scale: options.scale, format: .tiff,
                    metadata: ImageMetadata(
                        storedSize: page.size, orientation: page.orientation, bitDepth: page.depth,
                        hasAlpha: page.hasAlpha, isPartial: decoded.isPartial, iccProfile: page.iccProfile))
            }
        }

        /// Returns whether the format is TIFF.
        package func canEncode(_ format: ImageFormat) -> Bool { format == .tiff }

        /// Encodes a still image or the poster frame.
        ///
        /// The file has 8 or 16 bits per sample, like the pixels, and preserves every visible pixel. Effort 0 to 9 is
        /// the level of Deflate. The file can contain the color profile and XMP, but not EXIF.
        ///
        /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)`` or
        ///   ``ImageError/RequestFailure/invalidOption(name:value:)``.
        package func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
            throws(ImageError) -> Data
        {
            try TIFFWriter.encode(image, as: encoding, compression: compression, context: context)
        }
    }
#endif
