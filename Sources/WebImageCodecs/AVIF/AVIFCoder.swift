// SPDX-License-Identifier: MIT

#if AVIF
    import Foundation
    import WebImageCore

    /// AVIF through libavif: stills and sequences of 8, 10 and 12 bits, all subsamplings, alpha, grids. Trait `AVIF`.
    public struct AVIFCoder: ImageCoder {
        private let encodedDepth: Int

        /// Creates the coder. `encodedDepth` is the bits per sample of what it encodes, 8 or 10; default 8.
        public init(encodedDepth: Int = 8) { self.encodedDepth = encodedDepth }

        /// True for AVIF.
        public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .avif }

        /// Decodes in full, then crops to the clean aperture, resamples and turns upright.
        ///
        /// A sequence's poster is decoded at once, its frames when they are asked for. What is cut off is an error also
        /// with `allowsPartial`: an AV1 frame is whole or nothing.
        ///
        /// - Throws: families 4xxx and 6xxx, ``RequestError/noSuchFrame(index:count:)``.
        public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
            throws(ImageError) -> Image
        {
            try context.checkpoint()
            guard !data.isEmpty else { throw .decode(.empty) }
            var header = probe
            if header == nil { header = try ImageProbe(reading: data) }
            var source = try AVIFSource(data, limits: context.limits)
            try header.requireAgreement(on: source.storedSize, format: .avif)
            let plays = try options.plays(count: source.frameCount, limits: context.limits)
            let layout = try DecodeLayout(
                rawSize: source.crop.size, orientation: header.orientation, options: options,
                format: options.depth.format(source.depth), frames: plays ? source.frameCount : 1, context: context)
            source.color = options.conversion(source.conversion)
            source.wantedDepth = options.depth
            let pixels = try layout.finish(
                try source.decode(frame: options.firstIndex, context: context), context: context)
            let metadata = ImageMetadata(
                rawSize: source.storedSize, orientation: header.orientation, depth: source.depth,
                hasAlpha: source.hasAlpha, iccProfile: source.iccProfile,
                codePoints: source.codePoints)
            var animation: ImageAnimation?
            if plays {
                let timeline = AnimationTimeline(loopCount: header?.loopCount ?? 0, durations: source.durations())
                let held = source.storedSize.width * source.storedSize.height * pixels.format.bytesPerPixel
                let (color, limits) = (source.color, context.limits)
                animation = ImageAnimation(
                    FrameDecoder(
                        source, timeline: timeline, layout: layout, limits: limits, cost: data.count + held
                    ) { [depth = options.depth] () throws(ImageError) in
                        var another = try AVIFSource(data, limits: limits)
                        another.color = color
                        another.wantedDepth = depth
                        return another
                    })
            }
            return Image(
                pixels: pixels, animation: animation, scale: options.scale, format: .avif, metadata: metadata)
        }

        /// True for AVIF.
        public func canEncode(_ format: ImageFormat) -> Bool { format == .avif }

        /// Encodes the still or the animation. Default quality 70, chroma at half the resolution below 90 unless
        /// a subsampling is asked for; effort 0 to 9 is libavif's speed 10 to 1, default speed 6. Pixels of 16 bits a sample
        /// get 10, those of animations 8. Profile, code points, EXIF and XMP have their places. The format has no place for a loop count before libavif 1.0: what
        /// is written plays for ever.
        ///
        /// - Throws: ``TransformError/encodingFailed(format:reason:)``, ``RequestError/invalidOption(name:value:)``,
        ///   ``RequestError/noSuchFrame(index:count:)``, a ``LimitError``.
        public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
            throws(ImageError) -> Data
        {
            guard encodedDepth == 8 || encodedDepth == 10 else {
                throw .request(.invalidOption(name: "encodedDepth", value: "\(encodedDepth)"))
            }
            let image = try image.taking(encoding.frames)
            guard !image.isAnimated else {
                return try AVIFAnimationWriter.encode(image, as: encoding, depth: encodedDepth, context: context)
            }
            return try AVIFWriter.encode(image, as: encoding, depth: encodedDepth, context: context)
        }
    }
#endif
