// SPDX-License-Identifier: MIT

#if AVIF
    import Foundation
    import WebImageCore

    /// A coder for AVIF images, based on libavif.
    ///
    /// The decoder supports still images and sequences with 8, 10, and 12 bits, all chroma subsamplings, alpha, and
    /// grids. This type requires the package trait `AVIF`.
    package struct AVIFCoder: FrameSelectingCoder {
        private let encodedDepth: Int

        /// Creates a coder whose encoded images have 8, 10, or 12 bits per sample. The default is 8. Images with 16
        /// bits per sample are encoded with at least 10.
        package init(encodedDepth: Int = 8) { self.encodedDepth = encodedDepth }

        /// Returns whether the format is AVIF.
        package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .avif }

        /// Decodes an AVIF image.
        ///
        /// The coder decodes the full image, crops it to the clean aperture, resamples it, and applies the
        /// orientation. It decodes the poster frame of a sequence immediately and the other frames on demand.
        /// Truncated data is an error even if `allowsPartial` is `true`, because a partial AV1 frame can't be decoded.
        ///
        /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
        ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
        package func decode(
            _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
        )
            throws(ImageError) -> DecodedImage
        {
            try context.checkCancellation()
            guard !data.isEmpty else { throw .decoding(.noData) }
            let data = HEIFPropertyOrder.normalized(data) ?? data
            var header = info
            if header == nil { header = try ImageInfo(data: data) }
            let gainMaps = GainMapDecoder(coder: self, options: options, context: context)
            if let image = try gainMaps.standardImage(of: data, info: header) { return image }
            // If the track is invalid, only the still image is decoded.
            let usesTracks = ImageInfo.isHEIFSequence(data) && header?.frameCountIsExact == true
            var source = try AVIFSource(data, usesTracks: usesTracks, limits: context.limits)
            try header.requireAgreement(on: source.storedSize, format: .avif)
            let plays = try options.plays(count: source.frameCount, limits: context.limits)
            if !plays { source.useThreads(context.threadCount) }
            var layout = try DecodeLayout(
                rawSize: source.crop.size, orientation: header.orientation, options: options,
                format: options.pixelFormat(source.depth), frames: plays ? source.frameCount : 1, context: context)
            let colors = options.colors(source.conversion)
            layout.curve = colors.curve
            source.color = colors.conversion
            source.preservesBitDepth = options.preservesBitDepth
            let pixels = try layout.finish(
                try source.decode(frame: options.firstIndex, context: context), context: context)
            let metadata = ImageMetadata(
                storedSize: source.storedSize, orientation: header.orientation, bitDepth: source.depth,
                hasAlpha: source.hasAlpha, iccProfile: source.iccProfile,
                codePoints: source.codePoints, color: colors.color, sourceCurve: colors.sourceCurve)
            var animation: ImageAnimation?
            if plays {
                let timeline = AnimationTimeline(loopCount: header?.loopCount ?? 0, durations: source.durations())
                let held = source.storedSize.width * source.storedSize.height * pixels.format.bytesPerPixel
                let (color, limits) = (source.color, context.limits)
                animation = ImageAnimation(
                    LibraryFrameDecoder(
                        source, timeline: timeline, layout: layout, limits: limits, cost: data.count + held
                    ) { [preservesBitDepth = options.preservesBitDepth] () throws(ImageError) in
                        var another = try AVIFSource(data, usesTracks: usesTracks, limits: limits)
                        another.color = color
                        another.preservesBitDepth = preservesBitDepth
                        return another
                    })
            }
            let image = DecodedImage(
                pixels: pixels, animation: animation, scale: options.scale, format: .avif, metadata: metadata)
            return try gainMaps.attachHEIF(to: image, of: data)
        }

        /// Returns whether the format is AVIF.
        package func canEncode(_ format: ImageFormat) -> Bool { format == .avif }

        /// Encodes a still image or an animation.
        ///
        /// The default quality is 70. Unless a subsampling is requested, chroma has half the resolution at qualities
        /// below 90. Images whose color space exceeds Display P3 have full chroma and at least 10 bits. The efforts 0 to 9
        /// correspond to the speeds 10 to 1 of libavif, and the default speed is 6. Images with 16 bits per sample are encoded with at least 10 bits, but animation frames are reduced to 8 bits first.
        /// The file can contain the color profile, the code points, EXIF, and XMP. The edit lists of the tracks contain the
        /// loop count.
        ///
        /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``,
        ///   ``ImageError/RequestFailure/invalidOption(name:value:)``, or an ``ImageError/LimitFailure``.
        package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
            throws(ImageError) -> Data
        {
            guard [8, 10, 12].contains(encodedDepth) else {
                throw .request(.invalidOption(name: "encodedDepth", value: "\(encodedDepth)"))
            }
            guard !image.isAnimated else {
                return try AVIFAnimationWriter.encode(image, as: encoding, depth: encodedDepth, context: context)
            }
            return try AVIFWriter.encode(image, as: encoding, depth: encodedDepth, context: context)
        }
    }
#endif
