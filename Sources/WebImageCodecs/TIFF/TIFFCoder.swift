// SPDX-License-Identifier: MIT

#if TIFF
    import Foundation
    import WebImageCore

    /// TIFF and BigTIFF through libtiff: strips and tiles, its compressions, 1 to 16 bits, palettes, CMYK, YCbCr, pages.
    /// Trait `TIFF`.
    public struct TIFFCoder: ImageCoder {
        /// How pixels are packed.
        public enum Compression: Sendable, Hashable {
            /// Not at all.
            case none
            /// LZW with differences of neighbours.
            case lzw
            /// Deflate with differences of neighbours.
            case deflate
        }

        private let compression: Compression

        /// Creates the coder. `compression` is that of what it encodes; default Deflate.
        public init(compression: Compression = .deflate) { self.compression = compression }

        /// True for TIFF.
        public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .tiff }

        /// Decodes one page in full, then resamples and turns it upright: the first, or the one of `frames: .single(n)`.
        /// Pages are no animation. With `allowsPartial` parts that are damaged or missing stay as libtiff leaves them.
        ///
        /// - Throws: families 4xxx and 6xxx, ``RequestError/noSuchFrame(index:count:)``.
        public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
            throws(ImageError) -> Image
        {
            try context.checkpoint()
            return try data.withBytes { (bytes) throws(ImageError) in
                let reader = try TIFFReader(bytes, limits: context.limits)
                let page = try reader.page(options.firstIndex, limits: context.limits)
                if options.firstIndex == 0 { try probe.requireAgreement(on: page.size, format: .tiff) }
                let format: PixelFormat = page.isDeep ? options.depth.format(page.depth) : .rgba8
                let layout = try DecodeLayout(
                    rawSize: page.size, orientation: page.orientation, options: options, format: format,
                    context: context)
                let color = options.conversion(
                    page.colorModel.flatMap { .from(profile: page.iccProfile, model: $0) })
                let convertsLast = layout.convertsLast(color)
                let decoded = try reader.decode(
                    page, color: convertsLast ? nil : color, format: format, allowsPartial: options.allowsPartial,
                    context: context)
                let pixels = try layout.finish(decoded.pixels, color: convertsLast ? color : nil, context: context)
                return Image(
                    pixels: pixels, scale: options.scale, format: .tiff,
                    metadata: ImageMetadata(
                        rawSize: page.size, orientation: page.orientation, depth: page.depth,
                        hasAlpha: page.hasAlpha, isPartial: decoded.isPartial, iccProfile: page.iccProfile))
            }
        }

        /// True for TIFF.
        public func canEncode(_ format: ImageFormat) -> Bool { format == .tiff }

        /// Encodes the still or the poster, 8 or 16 bits a sample as the pixels have, every visible pixel kept. Effort 0
        /// to 9 is Deflate's level. Profile and XMP have tags; EXIF is left out.
        ///
        /// - Throws: ``TransformError/encodingFailed(format:reason:)``, ``RequestError/invalidOption(name:value:)``.
        public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
            throws(ImageError) -> Data
        {
            try TIFFWriter.encode(image, as: encoding, compression: compression, context: context)
        }
    }
#endif
