// SPDX-License-Identifier: MIT

import Foundation

/// A search for the best encoded file that doesn't exceed a size limit.
///
/// A ``LadderSearch`` selects the encodings, with at most five encodes. For large images, a ``DraftSearch`` replaces it if
/// the encoder of the format is much faster with the lowest effort. The result is the best file that fits.
enum FileSizeSearch {
    /// Throws an ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/encodedSize``, or an error of
    /// the encoder.
    static func run(
        _ image: DecodedImage, as encoding: ImageEncoding, coder: any ImageCoder, limit: Int,
        context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        try context.checkCancellation()
        if let drafts = Self.drafts(for: image, as: encoding) {
            var encoding = encoding
            encoding.effort = encoding.effort ?? drafts.effort
            var run = DraftedRun(image, as: encoding, coder: coder, limit: limit, drafts: drafts, context: context)
            return try run.result()
        }
        let requested = try coder.encode(image, as: encoding, context: context)
        if requested.count <= limit { return requested }
        let ladder = EncodingLadder(for: encoding, size: image.size)
        var search = LadderSearch(
            ladder, limit: limit, headers: EncodedSizeModel.headerByteCount(of: encoding.formatOrAutomatic),
            metadata: EmbeddedMetadata(for: image, as: encoding).byteCount)
        _ = search.add(index: ladder.count - 1, byteCount: requested.count)
        var best: Data?
        while let index = search.next() {
            try context.checkCancellation()
            let rung = ladder.rung(index)
            let reduced = if let side = rung.side { try image.limited(to: side, context) } else { image }
            let data = try coder.encode(reduced, as: rung.encoding, context: context)
            if search.add(index: index, byteCount: data.count) { best = data }
        }
        if let best { return best }
        throw failure(encoding, limit: limit, smallest: search.smallestByteCount)
    }

    fileprivate static func failure(_ encoding: ImageEncoding, limit: Int, smallest: Int) -> ImageError {
        let detail = "\(ImageError.LimitFailure.smallestEncoding) \(encoding.formatOrAutomatic)"
        return .limitExceeded(
            ImageError.LimitFailure(.encodedSize, limit: limit, actual: smallest, detail: detail))
    }

    /// Returns the properties of drafts if a search with drafts is faster, and otherwise `nil`.
    private static func drafts(for image: DecodedImage, as encoding: ImageEncoding) -> EncodedSizeModel.Drafts? {
        // A gain map changes the pixels that are encoded, and a sample has no gain map.
        guard !encoding.isLossless, !image.isAnimated, image.gainMap == nil,
            image.size.area ?? 0 >= DraftSearch.minPixelCount,
            let drafts = EncodedSizeModel.model(of: encoding.formatOrAutomatic)?.drafts,
            drafts.areFaster(than: encoding.effort)
        else { return nil }
        return drafts
    }
}

/// The encodes of a ``DraftSearch``.
private struct DraftedRun {
    private let image: DecodedImage
    private let encoding: ImageEncoding
    private let coder: any ImageCoder
    private let limit: Int
    private let context: ImageProcessingContext
    private let ladder: EncodingLadder
    private let headers: Int
    private let metadata: Int
    private var search: DraftSearch
    /// The last image that was reduced, and the length of its longer side.
    private var reduced: (side: Int, image: DecodedImage)?
    /// The last sample, and the length of the longer side of its image, or `nil` for the size of the image.
    private var lastSample: (side: Int?, value: ImageSample?)?

    init(
        _ image: DecodedImage, as encoding: ImageEncoding, coder: any ImageCoder, limit: Int,
        drafts: EncodedSizeModel.Drafts, context: ImageProcessingContext
    ) {
        self.image = image
        self.encoding = encoding
        self.coder = coder
        self.limit = limit
        self.context = context
        ladder = EncodingLadder(for: encoding, size: image.size)
        headers = EncodedSizeModel.headerByteCount(of: encoding.formatOrAutomatic)
        metadata = EmbeddedMetadata(for: image, as: encoding).byteCount
        search = DraftSearch(
            ladder, drafts: drafts, limit: limit, headers: headers, metadata: metadata,
            pixelCount: image.size.area ?? .max)
    }

    mutating func result() throws(ImageError) -> Data {
        var best: Data?
        while let step = search.next() {
            try context.checkCancellation()
            switch step {
            case .partialDraft(let index):
                var byteCount: Int?
                if let sample = try imageSample(index) {
                    let size = try variableSize(of: sample, draft(index)) / sample.share
                    byteCount = headers + metadata + Int(size)
                }
                search.addPartialDraft(index: index, byteCount: byteCount)
            case .draft(let index):
                let data = try coder.encode(rungImage(index), as: draft(index), context: context)
                search.addDraft(index: index, byteCount: data.count)
            case .ratio(let index):
                var logRatio: Double?
                if let sample = try imageSample(index) {
                    let file = try variableSize(of: sample, ladder.rung(index).encoding)
                    let draft = try variableSize(of: sample, self.draft(index))
                    logRatio = log(file / draft)
                }
                search.addRatio(index: index, logRatio: logRatio)
            case .file(let index):
                let data = try coder.encode(rungImage(index), as: ladder.rung(index).encoding, context: context)
                if search.addFile(index: index, byteCount: data.count) { best = data }
            }
        }
        if let best { return best }
        throw FileSizeSearch.failure(encoding, limit: limit, smallest: search.smallestByteCount)
    }

    private mutating func rungImage(_ index: Int) throws(ImageError) -> DecodedImage {
        guard let side = ladder.rung(index).side else { return image }
        if let reduced, reduced.side == side { return reduced.image }
        let smaller = try image.limited(to: side, context)
        reduced = (side, smaller)
        return smaller
    }

    /// Returns the sample of the image at the size of a rung, or `nil` if the image is too small for one.
    private mutating func imageSample(_ index: Int) throws(ImageError) -> ImageSample? {
        let side = ladder.rung(index).side
        if let lastSample, lastSample.side == side { return lastSample.value }
        let value = try ImageSample(rungImage(index))
        lastSample = (side, value)
        return value
    }

    private func draft(_ index: Int) -> ImageEncoding {
        var draft = ladder.rung(index).encoding
        draft.effort = 0
        return draft
    }

    /// Returns the size of an encoded sample without headers, in bytes.
    private func variableSize(of sample: ImageSample, _ encoding: ImageEncoding) throws(ImageError) -> Double {
        var encoding = encoding
        encoding.metadata = .strip
        encoding.thumbnailDimension = nil
        return max(1, Double(try coder.encode(sample.image, as: encoding, context: context).count - headers))
    }
}
