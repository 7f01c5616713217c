// SPDX-License-Identifier: MIT

import Foundation

extension CoderRegistry {
    /// Encodes `image`. Blocks; call it on a worker thread.
    ///
    /// Pixels are reduced to ``ImageEncoding/maxPixelSize``. With ``ImageEncoding/maxBytes`` qualities from the wanted one
    /// down to 10 are tried, the best that fits is taken; where none does, or the format has none, pixels become fewer step
    /// by step, down to 16 on the longer side.
    ///
    /// - Parameters:
    ///   - image: the picture; what it shows is what is written, upright.
    ///   - encoding: how.
    ///   - original: the bytes that the picture was decoded from. Where given, EXIF and XMP are taken from them as the
    ///     encoding's policy says; the automatic format returns them as they are where nothing changed and nothing has to be
    ///     stripped; and a lossless encoding takes them over without decoding where the format can hold them (JPEG in
    ///     JPEG XL). Whether something changed is found out by decoding them. Default nil.
    ///   - context: limits and cancellation.
    /// - Throws: family 5xxx, ``RequestError/cancelled``, ``RequestError/invalidOption(name:value:)``,
    ///   ``RequestError/noSuchFrame(index:count:)``, and a ``LimitError`` of kind encodedBytes where
    ///   ``ImageEncoding/maxBytes`` cannot be kept, with the size of the smallest file that was made.
    public func encode(
        _ image: Image, as encoding: ImageEncoding, original: Data? = nil, context: CodingContext
    ) throws(ImageError) -> Data {
        try encoding.checkNumbers()
        // Encoding once more would lose once more.
        if let form = image.encodedForm, form.encoding == encoding, original == nil { return form.data }
        var image = try image.taking(encoding.frames)
        let source = original.flatMap { OriginalPicture($0, coders: self, context: context) }
        if encoding.format == .automatic, let source, try source.stands(for: image, as: encoding) { return source.data }
        var encoding = chosen(encoding, for: image)
        encoding.frames = .all
        guard let coder = coders.last(where: { $0.canEncode(encoding.format) }) else {
            throw .transform(.noEncoder(encoding.format))
        }
        if let source {
            if let data = try source.transcoded(for: image, as: encoding, by: coder) { return data }
            if encoding.metadata != .strip { image = source.lending(metadataTo: image) }
        }
        if let side = encoding.maxPixelSize { image = try image.limited(to: side, context) }
        guard let limit = encoding.maxBytes else { return try coder.encode(image, as: encoding, context: context) }
        return try EncodingSearch(coder: coder, encoding: encoding, limit: limit, context: context).run(image)
    }

    /// The encoding with a format: of the automatic one, that for what the picture needs.
    private func chosen(_ encoding: ImageEncoding, for image: Image) -> ImageEncoding {
        guard encoding.format == .automatic else { return encoding }
        var encoding = encoding
        if image.isAnimated {
            // A GIF has few colours, which a GIF keeps.
            encoding.format = image.format == .gif && canEncode(.gif) || !canEncode(.webp) ? .gif : .webp
        } else if image.isOpaque {
            encoding.format = encoding.isLossless ? .png : .jpeg
            if encoding.quality == nil { encoding.quality = 90 }
        } else {
            encoding.format = .png
        }
        return encoding
    }
}

extension ImageEncoding {
    /// - Throws: ``RequestError/invalidOption(name:value:)`` for numbers that make no sense in any format.
    fileprivate func checkNumbers() throws(ImageError) {
        if let quality, !(1...100).contains(quality) {
            throw .request(.invalidOption(name: "quality", value: "\(quality)"))
        }
        for (name, value) in [
            ("maxBytes", maxBytes), ("maxPixelSize", maxPixelSize), ("thumbnailSide", thumbnailSide),
        ] {
            if let value, value < 1 { throw .request(.invalidOption(name: name, value: "\(value)")) }
        }
    }
}

extension Image {
    /// The picture with at most `side` pixels on its longer side; frames are reduced when they are asked for.
    func limited(to side: Int, _ context: CodingContext) throws(ImageError) -> Image {
        guard max(size.width, size.height) > side else { return self }
        let transformer = ResizeTransformer(to: .fit(width: Double(side), height: Double(side)))
        return try transformer.apply(to: self, context: TransformContext(scale: 1, coding: context))
    }
}
