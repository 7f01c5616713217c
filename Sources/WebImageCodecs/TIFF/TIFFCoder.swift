// SPDX-License-Identifier: MIT

#if TIFF
    import Foundation
    import WebImageCore

    /// A coder for TIFF and BigTIFF images, based on libtiff.
    ///
    /// The decoder supports strips and tiles, all compressions of libtiff, 1 to 16 bits per sample, palettes, CMYK,
    /// YCbCr, and multiple pages. If the file declares no alpha, the first sample after the color is unassociated
    /// alpha. This type requires the package trait `TIFF`.
    package struct TIFFCoder: FrameSelectingCoder, ReducingImageCoder {
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

        /// Creates a coder with a compression of encoded images. The default is Deflate.
        package init(compression: Compression = .deflate) { self.compression = compression }

        /// Returns whether the format is TIFF or a camera RAW format with the structure of TIFF.
        package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool {
            format == .tiff || format?.isTIFFBasedRAW == true
        }

        /// Decodes one page of a TIFF file.
        ///
        /// The coder decodes the first page, or the page n for `frames: .single(n)`. It decodes the full page,
        /// resamples it, and applies the orientation. If a large page is reduced to a much smaller size, the coder
        /// reduces it strip by strip or by rows of tiles, without holding the full page in memory. In this case, the
        /// limit for pixels applies to the result. Multiple pages don't become an animation. If `allowsPartial` is
        /// `true`, corrupt or missing parts keep the contents that libtiff produces. In a camera RAW file, the coder
        /// decodes only the pages that aren't sensor data.
        ///
        /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
        ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
        package func decode(
            _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
        )
            throws(ImageError) -> DecodedImage
        {
            try context.checkCancellation()
            let header: ImageInfo
            if let info { header = info } else { header = try ImageInfo(data: data) }
            // The probe checked the directories of these pages. libtiff would read each directory on the way to others.
            guard (0..<header.frameCount).contains(options.firstIndex) else {
                throw .request(.frameNotFound(index: options.firstIndex, frameCount: header.frameCount))
            }
            return try data.withBytes { (bytes) throws(ImageError) in
                let reader = try TIFFReader(bytes, limits: context.limits)
                let page = try reader.page(options.firstIndex, limits: context.limits)
                if options.firstIndex == 0 { try info.requireAgreement(on: page.size, format: .tiff) }
                let format: PixelFormat = page.isDeep ? options.pixelFormat(page.depth) : .rgba8
                var layout = try DecodeLayout(
                    rawSize: page.size, orientation: page.orientation, options: options, format: format,
                    reduction: page.rowsPerUnit <= TIFFReader.maxRowsPerUnit ? .rows : .none, context: context)
                let colors = options.colors(
                    page.colorModel.flatMap { .from(profile: page.iccProfile, model: $0) })
                layout.curve = colors.curve
                let color = colors.conversion
                let convertsLast = layout.convertsLast(color)
                let first = convertsLast ? nil : color
                let last = convertsLast ? color : nil
                let decoded: (pixels: PixelBuffer, isPartial: Bool)
                let pixels: PixelBuffer
                if isRowWise(page, layout, format, context) {
                    decoded = try reader.reduce(
                        page, layout: layout, color: first, format: format, allowsPartial: options.allowsPartialData,
                        context: context)
                    pixels = try layout.finishReduced(decoded.pixels, color: last, context: context)
                } else {
                    decoded = try reader.decode(
                        page, color: first, format: format, allowsPartial: options.allowsPartialData, context: context)
                    pixels = try layout.finish(decoded.pixels, color: last, context: context)
                }
                return DecodedImage(
                    pixels: pixels, scale: options.scale, format: info?.format ?? .tiff,
                    metadata: ImageMetadata(
                        storedSize: page.size, orientation: page.orientation, bitDepth: page.depth,
                        hasAlpha: page.hasAlpha, isPartial: decoded.isPartial, iccProfile: page.iccProfile,
                        color: colors.color, sourceCurve: colors.sourceCurve))
            }
        }

        /// Returns whether to reduce the page while it's decoded. If it isn't large and the limits allow it, decoding
        /// all rows together is faster.
        private func isRowWise(
            _ page: TIFFReader.Page, _ layout: DecodeLayout, _ format: PixelFormat, _ context: ImageProcessingContext
        ) -> Bool {
            guard layout.isMuchSmaller, page.rowsPerUnit <= TIFFReader.maxRowsPerUnit else { return false }
            do throws(ImageError) {
                try context.limits.check(result: page.size, format: format)
                return page.size.area ?? .max > TIFFReader.maxPixelsTogether
            } catch {
                return true
            }
        }

        /// Returns the requirements for decoding strip by strip or by rows of tiles.
        package func requirements(
            for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
        ) -> DecodingRequirements? {
            guard !isIncremental, let rows = info.rowsPerUnit, rows <= TIFFReader.maxRowsPerUnit,
                var requirements = DecodingRequirements(info, options, .rows)
            else { return nil }
            // libtiff holds the samples of a strip in addition to the band.
            let band = TIFFReader.bandRows(rowsPerUnit: rows, about: 64)
            requirements.add(bandOf: info, rows: band + rows, options: options)
            if let area = info.storedSize.area, area <= TIFFReader.maxPixelsTogether {
                requirements.add(
                    pixelsOf: info.storedSize, bytesPerPixel: options.pixelFormat(info.bitDepth).bytesPerPixel)
            }
            return requirements
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
        package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
            throws(ImageError) -> Data
        {
            try TIFFWriter.encode(image, as: encoding, compression: compression, context: context)
        }
    }
#endif
