// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The last step of requests that store their processed image in a lossy encoding. It encodes the image and decodes it
/// again.
///
/// Because of this step, the image that a request delivers after a download, the image in memory, and the image on disk
/// have the same pixels. The step is part of the key, so requests that store nothing or use another encoding have
/// separate images. The encoded data remains attached to the image until it's stored, because encoding the image again
/// would cause another loss.
struct ProcessedForm: WholeImageTransformer {
    private let encoding: ImageEncoding
    private let coders: ImageCoderRegistry
    private let options: ImageDecodingOptions

    /// Creates the step of `request`. Returns `nil` if the request stores nothing or uses a lossless encoding.
    private init?(_ request: ImageRequest, _ coders: ImageCoderRegistry) {
        guard let encoding = Self.lossyEncoding(of: request) else { return nil }
        self.encoding = encoding
        self.coders = coders
        options = Self.readOptions(request)
    }

    var identifier: String { Self.identity(encoding) }
    /// The step is a part of storing, so it isn't one of the transformers that an application sees.
    var isRecorded: Bool { false }

    /// Returns the pixels unchanged, because this method is called only for previews, which aren't stored.
    func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer { pixels }

    /// Returns the image as it would be read from disk. An image that can't be stored remains unchanged.
    func apply(toWhole image: DecodedImage, context: ImageProcessingContext) throws(ImageError) -> DecodedImage {
        guard !image.isAnimated, !image.metadata.isPartial, encoding.keepsRange(of: image, options) else {
            return image
        }
        do throws(ImageError) {
            let data = try ProcessedFile.data(of: image, as: encoding, coders, context: context)
            let read = try ProcessedFile.decode(data, options: options, coders, context: context)
            guard image.hasSameColors(as: read) else { return image }
            return image.replacing(pixels: read.pixels, animation: nil, gainMap: read.gainMap)
                .with(encodedForm: EncodedForm(encoding: encoding, data: data))
        } catch {
            guard error != .cancelled else { throw error }
            return image
        }
    }
}

extension ProcessedForm {
    private static func identity(_ encoding: ImageEncoding) -> String { "processed(\(encoding.identity))" }

    static func appended(
        to transformers: [any ImageTransformer], _ request: ImageRequest, _ coders: ImageCoderRegistry
    ) -> [any ImageTransformer] {
        ProcessedForm(request, coders).map { transformers + [$0] } ?? transformers
    }

    static func appended(to identities: [String], _ request: ImageRequest) -> [String] {
        lossyEncoding(of: request).map { identities + [identity($0)] } ?? identities
    }

    /// Returns the options for decoding a stored image so that it equals the image that was stored.
    static func readOptions(_ request: ImageRequest) -> ImageDecodingOptions {
        var options = ImageDecodingOptions(
            scale: request.scale, preservesBitDepth: request.decoding.preservesBitDepth,
            color: request.decoding.color, dynamicRange: request.decoding.dynamicRange)
        options.keepsGamut = request.decoding.keepsGamut
        return options
    }

    /// Returns whether reading `image` from disk would return the same image.
    static func mayStore(_ image: DecodedImage, _ request: ImageRequest) -> Bool {
        guard !image.isAnimated, !image.metadata.isPartial,
            image.metadata.iccProfile?.count ?? 0 <= ProcessedImageRecord.maxProfileByteCount,
            request.caching.processedEncoding?.keepsRange(of: image, request.decoding) ?? false
        else { return false }
        guard let encoding = lossyEncoding(of: request) else { return true }
        return image.encodedForm?.encoding == encoding
    }

    /// Decodes a stored image and attaches its data, because a revalidated image is stored again.
    static func image(
        _ data: Data, _ request: ImageRequest, _ coders: ImageCoderRegistry, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        let image = try ProcessedFile.decode(data, options: readOptions(request), coders, context: context)
        guard let encoding = lossyEncoding(of: request) else { return image }
        return image.with(encodedForm: EncodedForm(encoding: encoding, data: data))
    }

    /// Returns the encoding in which `request` stores its processed image, or `nil` if it's lossless.
    private static func lossyEncoding(of request: ImageRequest) -> ImageEncoding? {
        guard let encoding = request.caching.processedEncoding, !encoding.keepsPixels(of: request.decoding)
        else {
            return nil
        }
        return encoding
    }
}

extension ImageEncoding {
    /// Returns whether every image decoded with these options survives the encoding unchanged. Colors other than sRGB
    /// must be checked for each image because a format may not support its profile.
    fileprivate func keepsPixels(of options: ImageDecodingOptions) -> Bool {
        guard maxByteCount == nil, maxDimension == nil, options.color == .sRGB, !options.keepsGamut,
            color != .displayP3
        else { return false }
        // Only this format stores all samples of PQ and HLG, which must not be converted.
        if options.dynamicRange.keepsRange { return format == .png && color == .source && preservesDynamicRange }
        return switch formatOrAutomatic {
        case .png, .pam: true
        case .webp: isLossless && !options.preservesBitDepth
        case .qoi: !options.preservesBitDepth
        default: false
        }
    }
}

extension ImageEncoding {
    /// Returns whether the file of a processed image may keep the dynamic range of the image, and reading it restores it.
    fileprivate func keepsRange(of image: DecodedImage, _ options: ImageDecodingOptions) -> Bool {
        !image.isHDR || preservesDynamicRange && options.dynamicRange.keepsRange
    }
}

extension DecodedImage {
    fileprivate func hasSameColors(as other: DecodedImage) -> Bool {
        guard metadata.color == other.metadata.color else { return false }
        return metadata.color != .source
            || metadata.iccProfile == other.metadata.iccProfile
                && metadata.codePoints == other.metadata.codePoints
    }
}

/// The custom data of the separate entry of a processed image: the history, without the options, which are part of the key,
/// and the description of the original file.
struct ProcessedImageRecord: Codable {
    /// The properties of the original file, which the file of the processed image doesn't contain.
    fileprivate struct Source: Codable {
        var format: String?
        var storedSize: PixelSize
        var orientation: Int
        var bitDepth: Int
        var hasAlpha: Bool
        var iccProfile: Data?
        var codePoints: [Int]?
        var curve: UInt8
        var hasGainMap: Bool
        var alternativeText: String?
        var extendedDescription: String?
        var rights: Data?
    }

    private var originalSize: PixelSize
    private var isReduced: Bool
    private var transformers: [String]
    /// The description of the original file. Entries of earlier versions have none.
    fileprivate var source: Source?

    /// The maximum size of an ICC profile in a record, in bytes. Images with larger profiles aren't stored.
    static let maxProfileByteCount = 1 << 20

    init(_ image: DecodedImage) {
        originalSize = image.originalSize
        isReduced = image.history.isReduced
        transformers = image.history.transformers
        let metadata = image.metadata
        source = Source(
            format: image.format?.rawValue, storedSize: metadata.storedSize, orientation: metadata.orientation.rawValue,
            bitDepth: metadata.bitDepth, hasAlpha: metadata.hasAlpha, iccProfile: metadata.iccProfile,
            codePoints: metadata.fileCodePoints.map { [$0.primaries, $0.transfer] },
            curve: metadata.sourceCurve.rawValue, hasGainMap: metadata.hasGainMap,
            alternativeText: metadata.alternativeText, extendedDescription: metadata.extendedDescription,
            rights: metadata.rights)
    }

    /// Returns an image that was read from the file of an entry, with the description in the entry’s custom data. If the data
    /// isn't valid, the history contains the transformers of the request.
    static func restored(_ image: DecodedImage, from data: Data?, _ plan: RequestPlan) -> DecodedImage {
        var history = ImageHistory()
        history.decodingOptions = plan.request.decodeOptions
        guard let data, let record = try? JSONDecoder().decode(ProcessedImageRecord.self, from: data) else {
            history.transformers = plan.transformers.filter { !($0 is ProcessedForm) }.map(\.identifier)
            return image.with(history: history)
        }
        history.originalSize = record.originalSize
        history.isReduced = record.isReduced
        history.transformers = record.transformers
        guard let source = record.source else { return image.with(history: history) }
        return image.with(
            format: source.format.map { ImageFormat(rawValue: $0) },
            metadata: source.describing(image.metadata)
        ).with(history: history)
    }
}

extension ProcessedImageRecord.Source {
    fileprivate func describing(_ stored: ImageMetadata) -> ImageMetadata {
        var metadata = stored
        metadata.storedSize = storedSize
        metadata.orientation = ImageOrientation(rawValue: orientation) ?? .up
        metadata.bitDepth = bitDepth
        metadata.hasAlpha = hasAlpha
        metadata.hasGainMap = hasGainMap
        metadata.alternativeText = alternativeText
        metadata.extendedDescription = extendedDescription
        metadata.rights = rights
        // The colors of unconverted pixels are those that the decoder found, but the file of an image in PQ or HLG contains
        // neither a profile nor unspecified numbers.
        guard stored.color != .source || stored.hasHDRSamples && codePoints != nil else { return metadata }
        metadata.iccProfile = iccProfile
        metadata.sourceCurve = LightCurve(rawValue: curve) ?? .sRGB
        metadata.fileCodePoints = codePoints.flatMap {
            $0.count == 2 ? ColorCodePoints(primaries: $0[0], transfer: $0[1]) : nil
        }
        (metadata.colorPrimaries, metadata.transferCharacteristics) = (nil, nil)
        metadata.describePixels(in: stored.color)
        return metadata
    }
}
