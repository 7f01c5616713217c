// SPDX-License-Identifier: MIT

#if AVIF
    import CAVIF
    import Foundation
    import WebImageCore

    /// A decoder for the tiles and layers of an AVIF file that have arrived. For image sequences, it shows the still
    /// image.
    ///
    /// libavif passes a single AV1 frame to its decoder only as a whole, so other files have no previews.
    struct AVIFPartialDecoder: PartialFileDecoder, ~Copyable {
        private let handle: OpaquePointer
        private let canvas: IncrementalCanvas
        private let probe: ImageInfo
        private let options: ImageDecodingOptions
        /// The rows and layers of the last preview.
        private var displayed: (rows: UInt32, layers: UInt32) = (0, 0)

        init(probe: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext) throws(ImageError) {
            let size = probe.storedSize
            let canvas = try IncrementalCanvas(size, context: context)
            try CodecLibraries.load(.avif, with: wi_avif_load)
            let handle = wi_avif_stream_open(
                canvas.row(0), canvas.bytesPerRow, UInt32(clamping: size.width), UInt32(clamping: size.height),
                AVIFSource.bounded(context.limits.maxPixels), AVIFSource.bounded(context.limits.maxDimension),
                UInt64(clamping: context.limits.maxEncodedBytes))
            guard let handle else { throw .decoding(.outOfMemory(byteCount: canvas.byteCount)) }
            self.handle = handle
            self.canvas = canvas
            self.probe = probe
            self.options = options
        }

        deinit { wi_avif_stream_close(handle) }

        mutating func preview(of prefix: Data, context: ImageProcessingContext) throws(ImageError) -> ImagePreview? {
            try context.checkCancellation()
            let prefix = HEIFPropertyOrder.normalized(prefix) ?? prefix
            var progress = wi_avif_progress()
            let status = try prefix.withBytes { (bytes) throws(ImageError) in
                wi_avif_stream_advance(handle, bytes.baseAddress, bytes.count, &progress)
            }
            try context.checkCancellation()
            guard status == WI_AVIF_OK || status == WI_AVIF_TRUNCATED else {
                throw .decoding(
                    .corrupted(format: .avif, reason: String(cString: wi_avif_stream_message(handle))))
            }
            guard progress.has_header != 0, progress.rows > 0,
                progress.rows > displayed.rows || progress.layers > displayed.layers
            else { return nil }
            displayed = (progress.rows, progress.layers)
            return try preview(progress, context)
        }

        private func preview(
            _ progress: wi_avif_progress, _ context: ImageProcessingContext
        ) throws(ImageError) -> ImagePreview {
            let info = progress.image
            let crop = PixelRect(
                x: Int(info.crop_x), y: Int(info.crop_y), width: Int(info.crop_width), height: Int(info.crop_height))
            let layout = try DecodeLayout(
                rawSize: crop.size, orientation: probe.orientation, options: options, context: context)
            let profile = info.icc.map { [UInt8](UnsafeBufferPointer(start: $0, count: info.icc_count)) }
            let codePoints = ColorCodePoints(primaries: Int(info.primaries), transfer: Int(info.transfer))
            let hasAlpha = info.has_alpha != 0
            let isWhole = Int(progress.rows) == canvas.size.height
            var pixels = try canvas.snapshot(
                isOpaque: !hasAlpha && isWhole, isStraight: hasAlpha && progress.is_premultiplied == 0)
            pixels = try pixels.part(crop, context: context)
            let color = options.conversion(profile == nil ? .from(codePoints) : .from(profile: profile))
            if let color { pixels = try color.converted(pixels, context: context) }
            let metadata = ImageMetadata(
                storedSize: probe.storedSize, orientation: probe.orientation, bitDepth: Int(info.depth),
                hasAlpha: hasAlpha, isPartial: true, iccProfile: profile, codePoints: codePoints)
            let image = DecodedImage(
                pixels: try layout.finish(pixels, context: context), scale: options.scale, format: .avif,
                metadata: metadata)
            return ImagePreview(
                image: image, completedRows: Int(progress.rows), completedPasses: Int(progress.layers), passCount: nil,
                fractionCompleted: fraction(progress))
        }

        /// The fraction of the layers, or of the rows if there's only one layer. The value 1 is reserved for the end of
        /// the file.
        private func fraction(_ progress: wi_avif_progress) -> Double {
            let rows = Double(progress.rows) / Double(canvas.size.height)
            let layers = Double(max(1, progress.layer_count))
            return min(0.99, progress.layers > 0 ? Double(progress.layers) / layers : rows / layers)
        }
    }

    extension AVIFCoder: PreviewInspectingCoder {
        /// Returns whether the file is a grid of tiles, has layers, or is an image sequence.
        package func mayHavePreviews(_ prefix: Data) -> Bool {
            switch HEIFParts.find(in: prefix) {
            case .found(let parts): parts.isGrid || parts.hasLayers || Self.isSequence(prefix)
            case .none: false
            case .needsMore: true
            }
        }

        /// Returns whether the major brand is that of an image sequence (AV1 Image File Format 1.1, section 6.3).
        private static func isSequence(_ prefix: Data) -> Bool {
            prefix.dropFirst(8).prefix(4).elementsEqual("avis".utf8)
        }

        /// Creates a decoder that shows the tiles of a grid from top to bottom, the layers of a layered image, or the
        /// still image of a sequence.
        package func makeProgressiveDecoder(
            info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext
        ) throws(ImageError) -> (any ProgressiveImageDecoder)? {
            let partial = try AVIFPartialDecoder(probe: info, options: options, context: context)
            return BufferedProgressiveDecoder(partial, coder: self, probe: info, options: options)
        }
    }
#endif
