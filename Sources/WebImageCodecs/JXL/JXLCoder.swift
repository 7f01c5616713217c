// SPDX-License-Identifier: MIT

#if JXL
    import Foundation
    import WebImageCore

    /// A coder for JPEG XL images, based on libjxl.
    ///
    /// The decoder supports lossy and lossless images, alpha, and animations, as bare codestreams and in the
    /// container. This type requires the package trait `JXL`.
    package struct JXLCoder: FrameSelectingCoder, TranscodingImageCoder {
        /// Creates a coder.
        package init() {}

        /// Returns whether the format is JPEG XL.
        package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .jxl }

        /// Decodes a JPEG XL image.
        ///
        /// The coder decodes the full image and then resamples it. It decodes the poster frame of an animation
        /// immediately and the other frames on demand. If a still image is truncated and `allowsPartial` is `true`,
        /// the result contains the part that libjxl can decode.
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
            let decodedSpace = options.keepsGamut && options.color == .sRGB ? .source : options.color
            var source = try JXLSource(data, colorSpace: decodedSpace, limits: context.limits)
            try info.requireAgreement(on: source.storedSize, format: .jxl)
            try context.limits.check(source.storedSize)
            let requested = options
            // The code points are known only to libjxl, which also returns an equivalent profile. Files with an embedded
            // profile have none.
            let options =
                source.isAnimated ? options : options.adapted(to: source.describedSpace(.source).exactCodePoints)
            let wanted = options.effectiveFrames(context.limits)
            // The positions of the frames are known only after a pass over all of them.
            let needsIndex = source.isAnimated && wanted != .first
            let durations = needsIndex ? try source.durations(limit: context.limits.maxFrames) : [100]
            let plays = try options.plays(count: durations.count, limits: context.limits)
            if !plays { source.useThreads(context.threadCount) }
            var layout = try DecodeLayout(
                rawSize: source.storedSize, orientation: source.orientation, options: options,
                format: options.pixelFormat(source.depth), frames: plays ? durations.count : 1, context: context)
            source.allowsPartial = options.allowsPartialData && !plays
            let colors = options.colors(source.conversion)
            layout.curve = colors.curve
            source.color = colors.conversion
            source.preservesBitDepth = options.preservesBitDepth
            let pixels = try layout.finish(
                try source.decode(frame: options.firstIndex, context: context), context: context)
            let space = source.describedSpace(colors.color)
            let metadata = ImageMetadata(
                storedSize: source.storedSize, orientation: source.orientation, bitDepth: source.depth,
                hasAlpha: source.hasAlpha, isPartial: source.isPartial, iccProfile: space.profile,
                codePoints: space.codePoints, color: colors.color, sourceCurve: colors.sourceCurve)
            var animation: ImageAnimation?
            if plays {
                let timeline = AnimationTimeline(loopCount: source.loopCount, durations: durations)
                let cost =
                    data.count + source.storedSize.width * source.storedSize.height
                    * pixels.format.bytesPerPixel
                let (color, limits) = (source.color, context.limits)
                animation = ImageAnimation(
                    LibraryFrameDecoder(source, timeline: timeline, layout: layout, limits: limits, cost: cost) {
                        [preservesBitDepth = options.preservesBitDepth] ()
                            throws(ImageError) in
                        var another = try JXLSource(data, colorSpace: decodedSpace, limits: limits)
                        another.color = color
                        another.preservesBitDepth = preservesBitDepth
                        return another
                    })
            }
            let image = DecodedImage(
                pixels: pixels, animation: animation, scale: options.scale, format: .jxl, metadata: metadata)
            return try GainMapDecoder(coder: self, options: requested, context: context)
                .attachJXL(to: image, of: data)
        }

        /// Creates a decoder that first shows the image at one eighth of its size, and then refines it pass by pass
        /// and group by group. Lossless files that aren't progressive are shown group by group.
        ///
        /// For animations, it decodes the first frame.
        package func makeProgressiveDecoder(
            info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext
        )
            throws(ImageError) -> (any ProgressiveImageDecoder)?
        {
            let layout = try DecodeLayout(
                rawSize: info.storedSize, orientation: info.orientation, options: options, context: context)
            let stream = try JXLIncrementalDecoder(probe: info, context: context)
            return IncrementalDecoderAdapter(stream, probe: info, options: options, layout: layout)
        }

        /// Returns whether the format is JPEG XL.
        package func canEncode(_ format: ImageFormat) -> Bool { format == .jxl }

        /// Encodes a still image or an animation.
        ///
        /// Quality 1 to 100 is converted to a distance as in the tools of libjxl. The default is 90, which means
        /// distance 1 (visually lossless). Quality 100 and `isLossless` preserve every visible pixel. Effort 0 to 9
        /// corresponds to effort 1 to 9 of libjxl. Still images with 16 bits per sample keep them, but animation
        /// frames are reduced to 8 bits. A lossless still image with `isProgressive` begins with smaller versions of the
        /// image, which previews show. Lossy files always do. The file can contain the color profile, EXIF, and XMP.
        ///
        /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``,
        ///   ``ImageError/RequestFailure/invalidOption(name:value:)``, or an ``ImageError/LimitFailure``.
        package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
            throws(ImageError) -> Data
        {
            guard !image.isAnimated else { return try JXLAnimationWriter.encode(image, as: encoding, context: context) }
            return try JXLWriter.encode(image, as: encoding, context: context)
        }

        /// Returns whether the conversion is from JPEG to JPEG XL.
        package func canTranscode(_ source: ImageFormat, to target: ImageFormat) -> Bool {
            source == .jpeg && target == .jxl
        }

        /// Recompresses the DCT coefficients of a JPEG file without loss.
        ///
        /// The result is about one fifth smaller, and the original JPEG file can be reconstructed from it bit for bit.
        ///
        /// - Returns: The JPEG XL file, or `nil` if libjxl can't convert the JPEG file (CMYK or arithmetic coding).
        package func transcode(
            _ original: Data, from format: ImageFormat, as encoding: ImageEncoding, context: ImageProcessingContext
        ) throws(ImageError) -> Data? {
            format == .jpeg ? try JXLWriter.transcode(original, as: encoding, context: context) : nil
        }
    }
#endif
