// SPDX-License-Identifier: MIT

#if HEIF
    import CHEIF
    import Foundation
    import WebImageCore

    /// A coder for HEIC and HEIF images, based on libheif.
    ///
    /// The coder supports still images with 8 to 12 bits, grids, alpha, and files with multiple images. This type
    /// requires the package trait `HEIF`.
    package struct HEIFCoder: FrameSelectingCoder {
        /// Creates a coder.
        package init() {}

        /// Returns whether the format is HEIF.
        package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .heif }

        /// Decodes a HEIF image.
        ///
        /// The coder decodes the primary image, or the image n for `frames: .single(n)`. Image 0 is the primary image,
        /// and the others follow in the order of the file. libheif crops the image and applies its orientation. If the
        /// requested size is smaller and an embedded thumbnail has enough pixels, the coder decodes the thumbnail
        /// instead. Truncated data is an error even if `allowsPartial` is `true`.
        ///
        /// If the sync samples of an image sequence correspond to its still image, they become an animation. Other
        /// samples depend on earlier samples and are omitted, because libheif 1.15 can't decode tracks. The frame
        /// before them stays visible for their duration. Other sequences are still images.
        ///
        /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
        ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
        package func decode(
            _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
        )
            throws(ImageError) -> DecodedImage
        {
            try context.checkCancellation()
            let data = HEIFPropertyOrder.normalized(data) ?? data
            if let sequence = try sequence(data, info, context) {
                return try decode(sequence, of: data, loopCount: info?.loopCount, options: options, context: context)
            }
            let gainMaps = GainMapDecoder(coder: self, options: options, context: context)
            if let image = try gainMaps.standardImage(of: data, info: info) { return image }
            return try data.withBytes { (bytes) throws(ImageError) in
                let index = options.firstIndex
                var reader = try HEIFReader(bytes, imageIndex: index, limits: context.limits)
                if index == 0, let info, info.size != reader.size {
                    let reason = "the size is \(reader.size) instead of \(info.size)"
                    throw .decoding(.contradictsHeader(format: .heif, reason: reason))
                }
                var layout = try DecodeLayout(
                    rawSize: reader.size, options: options, format: options.pixelFormat(reader.depth), context: context
                )
                let profile = reader.iccProfile()
                let colors = options.colors(reader.conversion(profile: profile))
                layout.curve = colors.curve
                let metadata = ImageMetadata(
                    storedSize: (index == 0 ? info?.storedSize : nil) ?? reader.size,
                    orientation: index == 0 ? info.orientation : .up, bitDepth: reader.depth, hasAlpha: reader.hasAlpha,
                    iccProfile: profile,
                    codePoints: reader.codePoints, color: colors.color, sourceCurve: colors.sourceCurve)
                let stored = try decode(&reader, layout, colors: colors, options: options, context: context)
                let pixels = try layout.finish(stored, context: context)
                let image = DecodedImage(pixels: pixels, scale: options.scale, format: .heif, metadata: metadata)
                return try gainMaps.attachHEIF(to: image, of: data)
            }
        }

        /// Returns the image sequence of a file, or `nil` for still images.
        private func sequence(
            _ data: Data, _ info: ImageInfo?, _ context: ImageProcessingContext
        ) throws(ImageError) -> HEIFSequence? {
            guard ImageInfo.isHEIFSequence(data) else { return nil }
            var header = info
            if header == nil { header = try ImageInfo(data: data) }
            guard let header, header.frameCount > 1 else { return nil }
            // A limit of one frame means that only the poster frame is decoded, so don't reject files with more.
            let limit = context.limits.maxFrames > 1 ? context.limits.maxFrames : ImageLimits.desktop.maxFrames
            do throws(ImageError) {
                return try HEIFSequence(data, maxFrames: limit)
            } catch {
                // The still image is sufficient. It doesn't depend on the tables of the track.
                switch error {
                case .decoding: return nil
                case .limitExceeded(let failure) where failure.kind == .metadataSize: return nil
                default: throw error
                }
            }
        }

        private func decode(
            _ sequence: HEIFSequence, of data: Data, loopCount: Int?, options: ImageDecodingOptions,
            context: ImageProcessingContext
        ) throws(ImageError) -> DecodedImage {
            let plays = try options.plays(count: sequence.samples.count, limits: context.limits)
            var source = HEIFSequenceSource(data, sequence, options: options)
            let metadata = try source.metadata(context: context)
            var layout = try DecodeLayout(
                rawSize: sequence.size, options: options, format: options.pixelFormat(metadata.bitDepth),
                frames: plays ? sequence.samples.count : 1, context: context)
            layout.curve = metadata.lightCurve
            let pixels = try layout.finish(
                try source.decode(frame: options.firstIndex, context: context), context: context)
            var animation: ImageAnimation?
            if plays {
                let timeline = AnimationTimeline(loopCount: loopCount ?? 0, durations: source.durations)
                let cost = data.count + sequence.size.width * sequence.size.height * pixels.format.bytesPerPixel
                animation = ImageAnimation(
                    LibraryFrameDecoder(
                        source, timeline: timeline, layout: layout, limits: context.limits, cost: cost
                    ) { () throws(ImageError) in HEIFSequenceSource(data, sequence, options: options) })
            }
            return DecodedImage(
                pixels: pixels, animation: animation, scale: options.scale, format: .heif, metadata: metadata)
        }

        /// Decodes the embedded thumbnail if it has enough pixels and is valid. Otherwise, decodes the image.
        private func decode(
            _ reader: inout HEIFReader, _ layout: DecodeLayout, colors: DecodedColors,
            options: ImageDecodingOptions, context: ImageProcessingContext
        ) throws(ImageError) -> PixelBuffer {
            let color = colors.conversion
            if let needed = layout.requiredSize,
                reader.useThumbnail(
                    width: needed.width, height: needed.height, preservesBitDepth: options.preservesBitDepth)
            {
                // The thumbnail may have its own color information.
                let own =
                    reader.hasColors ? options.colors(reader.conversion(profile: reader.iccProfile())) : colors
                do throws(ImageError) {
                    // The metadata describe the colors of the image, so the thumbnail must have the same kind of colors.
                    guard own.color == colors.color, !reader.hasColors || own.color != .source else {
                        throw .decoding(.unsupportedFeature(format: .heif, feature: "a thumbnail in other colors"))
                    }
                    return try reader.decode(
                        color: own.conversion, preservesBitDepth: options.preservesBitDepth, context: context)
                } catch {
                    try context.checkCancellation()
                    reader.useFullImage()
                }
            }
            return try reader.decode(color: color, preservesBitDepth: options.preservesBitDepth, context: context)
        }

        /// Returns whether the format is HEIF and libheif has an HEVC encoder.
        package func canEncode(_ format: ImageFormat) -> Bool {
            format == .heif && wi_heif_load() == nil && wi_heif_can_encode() != 0
        }

        /// Encodes a still image or the poster frame as HEIC.
        ///
        /// The default quality is 75. The efforts 0 to 9 correspond to the presets of x265 from `ultrafast` to `placebo`, and
        /// the default preset is `slow`. By default, chroma has half the resolution, because not every device displays
        /// other values of `subsampling`. The HEVC encoding in libheif isn't exact, so the coder rejects `isLossless`.
        /// The file can contain alpha, the color profile, EXIF, XMP, and a thumbnail.
        ///
        /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)`` or
        ///   ``ImageError/RequestFailure/invalidOption(name:value:)``.
        package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
            throws(ImageError) -> Data
        {
            try requireEncodable(image.pixels, as: .heif, maxDimension: 16_384)
            let preset = try encoding.checkedEffort().map { Self.presets[$0] }
            guard !encoding.isLossless else {
                throw .processing(.encodingFailed(format: .heif, reason: "the HEVC encoding isn't lossless"))
            }
            let pixels = try image.pixels.eightBits(context: context)
            try context.checkCancellation()
            let quality = encoding.quality ?? 75
            let chroma = (encoding.chromaSubsampling ?? .yuv420).rawValue.filter { $0 != ":" }
            let side = encoding.thumbnailDimension.map { min($0, max(pixels.width, pixels.height)) } ?? 0
            try CodecLibraries.load(.heif, toEncode: true, with: wi_heif_load)
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            var metadata = EmbeddedMetadata(checked: image, as: encoding)
            let colors = metadata.hasCodePoints ? metadata.codePoints : nil
            if colors != nil { metadata.iccProfile = nil }
            let status = metadata.withBytes { icc, exif, xmp in
                var blocks = wi_heif_blocks(
                    icc: icc.baseAddress, icc_count: icc.count, exif: exif.baseAddress, exif_count: exif.count,
                    xmp: xmp.baseAddress, xmp_count: xmp.count)
                return Self.withCStrings(chroma, preset) { chroma, preset in
                    var options = wi_heif_options(
                        quality: Int32(quality), chroma: chroma, preset: preset, thumbnail_side: Int32(side),
                        primaries: Int32(colors?.primaries ?? 0), transfer: Int32(colors?.transfer ?? 0))
                    return wi_heif_encode(
                        AlphaUnpremultiplier.rows(of: pixels, from: 0, count: pixels.height), pixels.width * 4,
                        UInt32(pixels.width), UInt32(pixels.height), pixels.isOpaque ? 1 : 0, &options, &blocks,
                        &bytes, &count)
                }
            }
            guard status == WI_HEIF_OK, let bytes else {
                throw .processing(.encodingFailed(format: .heif, reason: "libheif failed (status \(status.rawValue))"))
            }
            defer { free(bytes) }
            return Data(bytes: bytes, count: count)
        }

        /// The presets of x265 for the efforts 0 to 9. The default of libheif is `slow`.
        private static let presets = [
            "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo",
        ]

        private static func withCStrings<Result>(
            _ first: String, _ second: String?,
            _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Result
        ) -> Result {
            first.withCString { first in
                guard let second else { return body(first, nil) }
                return second.withCString { body(first, $0) }
            }
        }
    }
#endif
