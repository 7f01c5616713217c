// SPDX-License-Identifier: MIT

#if JPEG2000
    import Foundation
    import WebImageCore

    /// A coder for JPEG 2000 images, based on OpenJPEG.
    ///
    /// The decoder supports JP2 files and codestreams with 1 to 16 bits per sample: gray, RGB, sYCC, CMYK, palettes,
    /// and alpha. This type requires the package trait `JPEG2000`.
    package struct JPEG2000Coder: ReducingImageCoder {
        /// Creates a coder.
        package init() {}

        /// The maximum size of the samples of one pixel in OpenJPEG. It holds up to five components and, while it applies
        /// a palette, up to five columns, with 32 bits each.
        private static let bytesPerPixel = 4 * (5 + 5)

        /// Returns whether the format is JPEG 2000.
        package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .jpeg2000 }

        /// Decodes a JPEG 2000 image.
        ///
        /// For a smaller size, the coder decodes a smaller resolution of the file: the smallest of the scales 1/1, 1/2,
        /// 1/4, and 1/8 that keeps at least twice the requested pixels on each axis, or 1.75 times at 1/2. Then it
        /// resamples the image. The limit for pixels applies to the decoded resolution. Truncated data is an error even
        /// if `allowsPartial` is `true`, because OpenJPEG 2.5.0 isn't safe for corrupt data in the mode that accepts it.
        ///
        /// - Throws: An ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
        package func decode(
            _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
        ) throws(ImageError) -> DecodedImage {
            try context.checkCancellation()
            try options.requireStill()
            guard !data.isEmpty else { throw .decoding(.noData) }
            // OpenJPEG allocates memory for the claims of the header, which the probe bounds.
            let header: ImageInfo
            if let info { header = info } else { header = try ImageInfo(data: data) }
            guard header.format == .jpeg2000 else { throw .decoding(.unknownFormat) }
            let layout = try DecodeLayout(
                rawSize: header.storedSize, options: options, format: options.pixelFormat(header.bitDepth),
                reduction: .fractions, context: context)
            return try data.withBytes { (bytes) throws(ImageError) in
                try decode(bytes, header, layout, options, context)
            }
        }

        private func decode(
            _ bytes: UnsafeBufferPointer<UInt8>, _ header: ImageInfo, _ layout: DecodeLayout,
            _ options: ImageDecodingOptions, _ context: ImageProcessingContext
        ) throws(ImageError) -> DecodedImage {
            try JPEG2000Segments.check(bytes)
            var reader = try JPEG2000Reader(
                bytes, reduction: layout.denominator.trailingZeroBitCount)
            let scale = Double(1 << reader.reduction)
            let extent = (
                width: Double(header.storedSize.width) / scale, height: Double(header.storedSize.height) / scale
            )
            // The sides are rounded at both ends.
            guard abs(Double(reader.size.width) - extent.width) <= 1,
                abs(Double(reader.size.height) - extent.height) <= 1
            else {
                let reason = "the size is \(reader.size) at 1/\(Int(scale)) of \(header.storedSize)"
                throw .decoding(.contradictsHeader(format: .jpeg2000, reason: reason))
            }
            try context.limits.check(reader.size)
            try reader.decode()
            try context.checkCancellation()
            let profile = reader.iccProfile()
            let colors = options.colors(.from(profile: profile, model: reader.colorModel))
            let decoded = try reader.pixels(
                depth: header.bitDepth, color: colors.conversion, preservesBitDepth: options.preservesBitDepth,
                context: context)
            var layout = layout
            layout.curve = colors.curve
            let pixels = try layout.finish(decoded, extent: extent, context: context)
            return DecodedImage(
                pixels: pixels, scale: options.scale, format: .jpeg2000,
                metadata: ImageMetadata(
                    storedSize: header.storedSize, bitDepth: header.bitDepth, hasAlpha: reader.hasAlpha,
                    iccProfile: profile, color: colors.color, sourceCurve: colors.sourceCurve))
        }

        /// Returns the requirements for the reduced image and the samples of OpenJPEG.
        package func requirements(
            for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
        ) -> DecodingRequirements? {
            guard var requirements = DecodingRequirements(info, options, .fractions) else { return nil }
            requirements.add(pixelsOf: requirements.size, bytesPerPixel: Self.bytesPerPixel)
            return requirements
        }
    }
#endif
