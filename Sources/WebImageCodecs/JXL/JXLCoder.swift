// SPDX-License-Identifier: MIT

#if JXL
    import Foundation
    import WebImageCore

    /// JPEG XL through libjxl: lossy, lossless, alpha, animated; bare or in its container. Trait `JXL`.
    public struct JXLCoder: ImageCoder {
        /// Creates the coder.
        public init() {}

        /// True for JPEG XL.
        public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .jxl }

        /// Decodes in full, then resamples. An animation's poster is decoded at once, its frames when they are asked for.
        /// A still that ends early gives what libjxl can draw of it with `allowsPartial`.
        ///
        /// - Throws: families 4xxx and 6xxx, ``RequestError/noSuchFrame(index:count:)``.
        public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
            throws(ImageError) -> Image
        {
            try context.checkpoint()
            guard !data.isEmpty else { throw .decode(.empty) }
            var source = try JXLSource(data, limits: context.limits)
            try probe.requireAgreement(on: source.storedSize, format: .jxl)
            try context.limits.check(size: source.storedSize)
            let wanted = options.wantedFrames(context.limits)
            // Where frames lie is known only after a walk over all of them.
            let needsIndex = source.isAnimated && wanted != .first
            let durations = needsIndex ? try source.durations(limit: context.limits.maxFrames) : [100]
            let plays = try options.plays(count: durations.count, limits: context.limits)
            let layout = try DecodeLayout(
                rawSize: source.storedSize, orientation: source.orientation, options: options,
                format: options.depth.format(source.depth), frames: plays ? durations.count : 1, context: context)
            source.allowsPartial = options.allowsPartial && !plays
            source.color = options.conversion(source.conversion)
            source.wantedDepth = options.depth
            let pixels = try layout.finish(
                try source.decode(frame: options.firstIndex, context: context), context: context)
            let metadata = ImageMetadata(
                rawSize: source.storedSize, orientation: source.orientation, depth: source.depth,
                hasAlpha: source.hasAlpha, isPartial: source.isPartial, iccProfile: source.iccProfile,
                codePoints: source.codePoints)
            var animation: ImageAnimation?
            if plays {
                let timeline = AnimationTimeline(loopCount: source.loopCount, durations: durations)
                let cost =
                    data.count + source.storedSize.width * source.storedSize.height
                    * pixels.format.bytesPerPixel
                let (color, limits) = (source.color, context.limits)
                animation = ImageAnimation(
                    FrameDecoder(source, timeline: timeline, layout: layout, limits: limits, cost: cost) {
                        [depth = options.depth] () throws(ImageError) in
                        var another = try JXLSource(data, limits: limits)
                        another.color = color
                        another.wantedDepth = depth
                        return another
                    })
            }
            return Image(pixels: pixels, animation: animation, scale: options.scale, format: .jxl, metadata: metadata)
        }

        /// The picture at an eighth of its size first, then pass by pass and part by part; of an animation, the first
        /// frame.
        public func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
            throws(ImageError) -> (any ProgressiveDecoder)?
        {
            let layout = try DecodeLayout(
                rawSize: probe.rawSize, orientation: probe.orientation, options: options, context: context)
            let stream = try JXLStream(probe: probe, context: context)
            return StreamDecoder(stream, probe: probe, options: options, layout: layout)
        }

        /// True for JPEG XL.
        public func canEncode(_ format: ImageFormat) -> Bool { format == .jxl }

        /// Encodes the still or the animation. Quality 1 to 100 becomes a distance as in libjxl's own tools, default 90
        /// (distance 1, visually lossless); 100 and `isLossless` keep every visible pixel. Effort 0 to 9 is libjxl's 1 to 9.
        /// Pixels of 16 bits a sample stay so, those of animations become 8. Profile, EXIF and XMP have their places.
        ///
        /// - Throws: ``TransformError/encodingFailed(format:reason:)``, ``RequestError/invalidOption(name:value:)``,
        ///   ``RequestError/noSuchFrame(index:count:)``, a ``LimitError``.
        public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
            throws(ImageError) -> Data
        {
            let image = try image.taking(encoding.frames)
            guard !image.isAnimated else { return try JXLAnimationWriter.encode(image, as: encoding, context: context) }
            return try JXLWriter.encode(image, as: encoding, context: context)
        }

        /// True from JPEG.
        public func canTranscode(_ source: ImageFormat, to target: ImageFormat) -> Bool {
            source == .jpeg && target == .jxl
        }

        /// Takes the coefficients of a JPEG over, about a fifth smaller; from the result the JPEG can be had back bit by bit.
        /// Nil where libjxl does not take it (CMYK, arithmetic coding).
        public func transcode(
            _ original: Data, from format: ImageFormat, as encoding: ImageEncoding, context: CodingContext
        ) throws(ImageError) -> Data? {
            format == .jpeg ? try JXLWriter.transcode(original, as: encoding, context: context) : nil
        }
    }
#endif
