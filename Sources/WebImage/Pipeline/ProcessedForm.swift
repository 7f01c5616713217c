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
        // The formats of processed images can't contain gain maps.
        guard !image.isAnimated, !image.metadata.isPartial, !image.isHDR else { return image }
        do throws(ImageError) {
            let data = try coders.encode(image, as: encoding, context: context)
            let read = try coders.decode(data, options: options, context: context)
            guard image.hasSameColors(as: read) else { return image }
            return image.replacing(pixels: read.pixels, animation: nil)
                .with(encodedForm: EncodedForm(encoding: encoding, data: data))
        } catch {
            guard error != .cancelled else { throw error }
            return image
        }
    }
}

extension ProcessedForm {
    private static func identity(_ encoding: ImageEncoding) -> String { "processed(\(encoding.identity))" }

    /// Returns `transformers` with this step appended if `request` needs it.
    static func appended(
        to transformers: [any ImageTransformer], _ request: ImageRequest, _ coders: ImageCoderRegistry
    ) -> [any ImageTransformer] {
        ProcessedForm(request, coders).map { transformers + [$0] } ?? transformers
    }

    /// Returns `identities` with the identity of this step appended if `request` needs it.
    static func appended(to identities: [String], _ request: ImageRequest) -> [String] {
        lossyEncoding(of: request).map { identities + [identity($0)] } ?? identities
    }

    /// Returns the options for decoding a stored image so that it equals the image that was stored.
    static func readOptions(_ request: ImageRequest) -> ImageDecodingOptions {
        var options = ImageDecodingOptions(
            scale: request.scale, preservesBitDepth: request.decoding.preservesBitDepth,
            color: request.decoding.color)
        options.keepsGamut = request.decoding.keepsGamut
        return options
    }

    /// Returns whether reading `image` from disk would return the same image.
    static func mayStore(_ image: DecodedImage, _ request: ImageRequest) -> Bool {
        guard !image.isAnimated, !image.metadata.isPartial, !image.isHDR else { return false }
        guard let encoding = lossyEncoding(of: request) else { return true }
        return image.encodedForm?.encoding == encoding
    }

    /// Decodes a stored image and attaches its data, because a revalidated image is stored again.
    static func image(
        _ data: Data, _ request: ImageRequest, _ coders: ImageCoderRegistry, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        let image = try coders.decode(data, options: readOptions(request), context: context)
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
        return switch formatOrAutomatic {
        case .png: true
        case .webp: isLossless && !options.preservesBitDepth
        case .qoi: !options.preservesBitDepth
        default: false
        }
    }
}

extension DecodedImage {
    /// Returns whether the samples of both images represent the same colors.
    fileprivate func hasSameColors(as other: DecodedImage) -> Bool {
        guard metadata.color == other.metadata.color else { return false }
        return metadata.color != .source
            || metadata.iccProfile == other.metadata.iccProfile
                && metadata.codePoints == other.metadata.codePoints
    }
}

extension ImageHistory {
    /// The history in a file, without the options, which are part of the key.
    private struct StoredForm: Codable {
        var originalSize: PixelSize
        var isReduced: Bool
        var transformers: [String]
    }

    /// Returns the history as custom data for the separate entry of a processed image.
    func storedForm(originalSize: PixelSize) -> Data? {
        try? JSONEncoder().encode(
            StoredForm(originalSize: originalSize, isReduced: isReduced, transformers: transformers))
    }

    /// Creates the history of a processed image from its separate entry. If the data isn't valid, the history contains
    /// the transformers of the request.
    init(storedForm data: Data?, _ plan: ResolvedRequest) {
        self.init()
        decodingOptions = plan.request.decodeOptions
        guard let data, let stored = try? JSONDecoder().decode(StoredForm.self, from: data) else {
            transformers = plan.transformers.filter { !($0 is ProcessedForm) }.map(\.identifier)
            return
        }
        originalSize = stored.originalSize
        isReduced = stored.isReduced
        transformers = stored.transformers
    }
}
