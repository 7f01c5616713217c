// SPDX-License-Identifier: MIT

#if HEIF
    import Foundation
    import WebImageCore

    /// A decoder for the thumbnail of a HEIF file whose image hasn't arrived yet.
    ///
    /// libheif opens a file only if all of its items are within the data. So this type decodes a copy in which zeros
    /// replace the missing data, after the item locations show that the thumbnail is complete.
    struct HEIFPartialDecoder: PartialFileDecoder {
        private let probe: ImageInfo
        private let options: ImageDecodingOptions
        /// The thumbnails that haven't been tried, or `nil` until the list of items is complete.
        private var candidates: [HEIFParts.Thumbnail]?
        /// The end of the last item in the file, in bytes.
        private var end = 0

        init(probe: ImageInfo, options: ImageDecodingOptions) {
            self.probe = probe
            self.options = options
        }

        mutating func preview(of prefix: Data, context: ImageProcessingContext) throws(ImageError) -> ImagePreview? {
            try context.checkCancellation()
            if candidates == nil, case .found(let parts) = HEIFParts.find(in: prefix) {
                try context.limits.check(encodedBytes: parts.end)
                candidates = parts.thumbnails
                end = parts.end
            }
            guard let place = candidates?.firstIndex(where: { $0.end <= prefix.count }),
                let thumbnail = candidates?.remove(at: place)
            else { return nil }
            // There's no second thumbnail after the first one, because it may have less detail.
            guard let preview = try preview(of: thumbnail, in: prefix, context) else { return nil }
            candidates = []
            return preview
        }

        private func preview(
            of thumbnail: HEIFParts.Thumbnail, in prefix: Data, _ context: ImageProcessingContext
        ) throws(ImageError) -> ImagePreview? {
            let prefix = HEIFPropertyOrder.normalized(prefix) ?? prefix
            // More of the file than at the first check is available, such as the parameter sets in the data of items.
            switch ImageInfo.probe(prefix, isComplete: false) {
            case .found(let info): try context.limits.check(info, encodedBytes: .max, frames: .first)
            case .needsMore: return nil
            case .failed(let error): throw error
            }
            return try prefix.withBytes { (received) throws(ImageError) in
                guard received.count < end else { return try preview(of: thumbnail, inFile: received, context) }
                // The system provides memory only for the pages that are written, which are those of the received data.
                guard let file = calloc(end, 1) else { throw .decoding(.outOfMemory(byteCount: end)) }
                defer { free(file) }
                if let start = received.baseAddress { memcpy(file, start, received.count) }
                let bytes = UnsafeBufferPointer(start: file.assumingMemoryBound(to: UInt8.self), count: end)
                return try preview(of: thumbnail, inFile: bytes, context)
            }
        }

        private func preview(
            of thumbnail: HEIFParts.Thumbnail, inFile bytes: UnsafeBufferPointer<UInt8>,
            _ context: ImageProcessingContext
        ) throws(ImageError) -> ImagePreview? {
            var reader = try HEIFReader(bytes, imageIndex: 0, limits: context.limits)
            guard reader.size == probe.size else { return nil }
            let layout = try DecodeLayout(rawSize: reader.size, options: options, context: context)
            let (profile, hasAlpha, depth) = (reader.iccProfile(), reader.hasAlpha, reader.depth)
            let metadata = ImageMetadata(
                storedSize: probe.storedSize, orientation: probe.orientation, bitDepth: depth, hasAlpha: hasAlpha,
                isPartial: true, iccProfile: profile, codePoints: reader.codePoints)
            var color = reader.conversion(profile: profile)
            guard reader.useThumbnail(item: thumbnail.item), reader.hasAlpha || !hasAlpha else { return nil }
            try context.limits.check(reader.size)
            // The thumbnail may have its own color information.
            if reader.hasColors { color = reader.conversion(profile: reader.iccProfile()) }
            let pixels = try reader.decode(
                color: options.conversion(color), preservesBitDepth: false, context: context)
            guard let backdrop = ThumbnailBackdrop(pixels, layout: layout) else { return nil }
            let image = DecodedImage(
                pixels: try backdrop.enlarged(context: context), scale: options.scale, format: .heif,
                metadata: metadata)
            return ImagePreview(
                image: image, completedRows: probe.storedSize.height, passCount: nil, fractionCompleted: 0)
        }
    }

    extension HEIFCoder: PreviewInspectingCoder {
        /// Returns whether the file has a thumbnail that is stored before the end of the last item.
        package func mayHavePreviews(_ prefix: Data) -> Bool {
            switch HEIFParts.find(in: prefix) {
            case .found(let parts): parts.thumbnails.contains { $0.end < parts.end }
            case .none: false
            case .needsMore: true
            }
        }

        /// Creates a decoder that shows the embedded thumbnail as soon as its data has arrived.
        package func makeProgressiveDecoder(
            info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext
        ) throws(ImageError) -> (any ProgressiveImageDecoder)? {
            let partial = HEIFPartialDecoder(probe: info, options: options)
            return BufferedProgressiveDecoder(partial, coder: self, probe: info, options: options)
        }
    }
#endif
