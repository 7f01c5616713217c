// SPDX-License-Identifier: MIT

import Foundation

extension ImageCoderRegistry {
    /// Encodes `image`. This method blocks, so call it on a worker thread.
    ///
    /// Images that exceed ``ImageEncoding/maxDimension`` are reduced. With ``ImageEncoding/maxByteCount``, this method
    /// encodes the image up to five times to approach the highest quality that fits, from the requested quality down to
    /// 10. If no quality fits or the format has no quality setting, the method reduces the image, down to 16 pixels on
    /// the longer side. The search ends if a file uses at least 95% of the limit without metadata. For large AVIF and HEIF
    /// images, encodes with the lowest effort predict the sizes, and the search usually needs one other encode. It then
    /// returns a slightly lower quality than the requested one if that one possibly exceeds the limit. The timeout
    /// ``ImageLimits/maxEncodingTime`` applies to the whole call. With ``ImageEncoding/visualScore``, the search starts
    /// from the quality that reaches the score.
    ///
    /// - Parameters:
    ///   - image: The image to encode. The pixels are written with the EXIF orientation applied.
    ///   - encoding: The requested encoding.
    ///   - original: The data that the image was decoded from. The default is `nil`. If you pass it, EXIF and XMP are
    ///     copied from it as ``ImageEncoding/metadata`` specifies. The automatic format returns the original unchanged
    ///     if the image is unmodified and no metadata must be removed. A lossless encoding transcodes the original if
    ///     the format supports it (JPEG in JPEG XL). To detect modifications, the method decodes the original.
    ///   - context: The limits and the cancellation.
    /// - Throws: An ``ImageError/ProcessingFailure``, ``ImageError/cancelled``,
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)``, or
    ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``. If ``ImageEncoding/maxByteCount`` can't be
    ///   met, the error is a ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/encodedSize`` with
    ///   the size of the smallest encoded file.
    public func encode(
        _ image: DecodedImage, as encoding: ImageEncoding, original: Data? = nil,
        context: ImageProcessingContext = ImageProcessingContext()
    ) throws(ImageError) -> Data {
        try encoding.checkNumbers()
        let context = context.forEncoding()
        // Reuse the existing data, because encoding the image again would degrade it further.
        // The data of an image with a gain map isn't an image file.
        if let form = image.encodedForm, form.encoding == encoding, original == nil, image.gainMap == nil {
            return form.data
        }
        var image = try image.selecting(encoding.frames)
        let source = original.flatMap { OriginalImageFile($0, coders: self, context: context) }
        if encoding.format == nil, let source, try source.canReplaceEncoding(of: image, as: encoding) {
            return source.data
        }
        var encoding = chosen(encoding, for: image)
        encoding.frames = .all
        let format = encoding.formatOrAutomatic
        guard let coder = coders.last(where: { $0.canEncode(format) }) else { throw .processing(.noEncoder(format)) }
        if let source {
            if let data = try source.transcoded(for: image, as: encoding, by: coder) { return data }
            if encoding.metadata != .strip { image = source.lending(metadataTo: image) }
        }
        if encoding.metadata == .keepCopyright, image.metadata.exif == nil, let rights = image.metadata.rights {
            var metadata = image.metadata
            metadata.exif = rights
            image = image.with(metadata: metadata)
        }
        if let side = encoding.maxDimension { image = try image.limited(to: side, context) }
        if let found = try VisualScoreSearch.run(image, as: encoding, coder: coder, context: context) {
            if found.data.count <= encoding.maxByteCount ?? .max { return found.data }
            encoding = found.encoding
        }
        guard let limit = encoding.maxByteCount else { return try coder.encode(image, as: encoding, context: context) }
        return try FileSizeSearch.run(image, as: encoding, coder: coder, limit: limit, context: context)
    }

    /// Returns the encoding with a concrete format. For the automatic format, the content of the image determines the
    /// format.
    func chosen(_ encoding: ImageEncoding, for image: DecodedImage) -> ImageEncoding {
        guard encoding.format == nil else { return encoding }
        var encoding = encoding
        if let formats = encoding.automaticFormats {
            encoding.format = kept(formats, for: image)
            encoding.automaticFormats = nil
            if encoding.format == .jpeg, encoding.quality == nil { encoding.quality = 90 }
            return encoding
        }
        if image.isAnimated {
            // Images from GIF files have few colors, so GIF preserves them.
            encoding.format = image.format == .gif && canEncode(.gif) || !canEncode(.webp) ? .gif : .webp
        } else if image.isOpaque {
            encoding.format = encoding.isLossless ? .png : .jpeg
            if encoding.quality == nil { encoding.quality = 90 }
        } else {
            encoding.format = .png
        }
        return encoding
    }

    /// Returns the format of the source if it's one of `formats` and can contain the image, or GIF, PNG, or JPEG.
    private func kept(_ formats: Set<ImageFormat>, for image: DecodedImage) -> ImageFormat {
        if image.isAnimated, image.format == .gif || formats.contains(.gif), canEncode(.gif) { return .gif }
        guard let own = image.format, formats.contains(own), canEncode(own), own != .jpeg || image.isOpaque else {
            return image.isOpaque ? .jpeg : .png
        }
        return own
    }
}

extension ImageEncoding {
    /// Throws ``ImageError/RequestFailure/invalidOption(name:value:)`` for numbers that aren't valid in any format.
    fileprivate func checkNumbers() throws(ImageError) {
        if let quality, !(1...100).contains(quality) {
            throw .request(.invalidOption(name: "quality", value: "\(quality)"))
        }
        if let visualScore, !(1...100).contains(visualScore) {
            throw .request(.invalidOption(name: "visualScore", value: "\(visualScore)"))
        }
        for (name, value) in [
            ("maxByteCount", maxByteCount), ("maxDimension", maxDimension), ("thumbnailDimension", thumbnailDimension),
        ] {
            if let value, value < 1 { throw .request(.invalidOption(name: name, value: "\(value)")) }
        }
    }
}

extension DecodedImage {
    /// Returns the image with at most `side` pixels on its longer side. Animation frames are reduced on demand.
    func limited(to side: Int, _ context: ImageProcessingContext) throws(ImageError) -> DecodedImage {
        guard max(size.width, size.height) > side else { return self }
        let transformer = ResizeTransformer(to: .fit(width: Double(side), height: Double(side)))
        return try transformer.apply(to: self, context: context)
    }
}
