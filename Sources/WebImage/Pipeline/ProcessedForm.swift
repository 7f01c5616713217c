// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The last step of requests that store their processed image in an encoding that loses something: encodes the image and
/// decodes it again.
///
/// The image that a request delivers when it is fresh, the one in memory, and the one on disk have equal pixels that way. The
/// step enters the key, so requests that store nothing, or store it otherwise, are served their own image. The encoded bytes
/// stay with the image until they are stored, because encoding it once more would lose once more.
struct ProcessedForm: WholeImageTransformer {
    private let encoding: ImageEncoding
    private let coders: CoderRegistry
    private let options: DecodeOptions

    /// Creates the step of `request`; nil if it stores nothing, or without any loss.
    private init?(_ request: ImageRequest, _ coders: CoderRegistry) {
        guard let encoding = Self.lossyEncoding(of: request) else { return nil }
        self.encoding = encoding
        self.coders = coders
        options = Self.readOptions(request)
    }

    var identity: String { Self.identity(encoding) }

    /// Pixels alone stay unchanged: previews aren't stored.
    func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer { pixels }

    /// The image as it comes back from disk. An image that can't be stored stays unchanged.
    func apply(toWhole image: Image, context: TransformContext) throws(ImageError) -> Image {
        guard !image.isAnimated, !image.metadata.isPartial else { return image }
        do throws(ImageError) {
            let data = try coders.encode(image, as: encoding, context: context.coding)
            let read = try coders.decode(data, options: options, context: context.coding)
            guard image.hasSameColors(as: read) else { return image }
            return image.replacing(pixels: read.pixels, animation: nil)
                .with(encodedForm: EncodedForm(encoding: encoding, data: data))
        } catch {
            guard !error.isCancelled else { throw error }
            return image
        }
    }
}

extension ProcessedForm {
    private static func identity(_ encoding: ImageEncoding) -> String { "processed(\(encoding.identity))" }

    /// `transformers` with the step behind them, if `request` needs it.
    static func appended(
        to transformers: [any ImageTransformer], _ request: ImageRequest, _ coders: CoderRegistry
    ) -> [any ImageTransformer] {
        ProcessedForm(request, coders).map { transformers + [$0] } ?? transformers
    }

    /// `identities` with that of the step behind them, if `request` needs it.
    static func appended(to identities: [String], _ request: ImageRequest) -> [String] {
        lossyEncoding(of: request).map { identities + [identity($0)] } ?? identities
    }

    /// How a stored image is read, so that it is what was stored.
    static func readOptions(_ request: ImageRequest) -> DecodeOptions {
        DecodeOptions(scale: request.scale, depth: request.decoding.depth, color: request.decoding.color)
    }

    /// Whether `image` comes back from disk as it is.
    static func mayStore(_ image: Image, _ request: ImageRequest) -> Bool {
        guard !image.isAnimated, !image.metadata.isPartial else { return false }
        guard let encoding = lossyEncoding(of: request) else { return true }
        return image.encodedForm?.encoding == encoding
    }

    /// A stored image, together with its bytes: a revalidated image is stored again.
    static func image(
        _ data: Data, _ request: ImageRequest, _ coders: CoderRegistry, context: CodingContext
    ) throws(ImageError) -> Image {
        let image = try coders.decode(data, options: readOptions(request), context: context)
        guard let encoding = lossyEncoding(of: request) else { return image }
        return image.with(encodedForm: EncodedForm(encoding: encoding, data: data))
    }

    /// The encoding in which `request` stores its processed image, unless it keeps every pixel.
    private static func lossyEncoding(of request: ImageRequest) -> ImageEncoding? {
        guard case .encoded(let encoding) = request.storeFinal, !encoding.keepsPixels(of: request.decoding) else {
            return nil
        }
        return encoding
    }
}

extension ImageEncoding {
    /// Whether every image that these options make comes back unchanged. Colors other than sRGB have to be asked of the
    /// image: a format may have no place for its profile.
    fileprivate func keepsPixels(of options: DecodeOptions) -> Bool {
        guard maxBytes == nil, maxPixelSize == nil, options.color == .sRGB else { return false }
        return switch format {
        case .png: true
        case .webp: isLossless && options.depth == .eight
        case .qoi: options.depth == .eight
        default: false
        }
    }
}

extension Image {
    /// Whether the samples of both mean the same colors.
    fileprivate func hasSameColors(as other: Image) -> Bool {
        guard metadata.color == .source || other.metadata.color == .source else { return true }
        return metadata.color == other.metadata.color && metadata.iccProfile == other.metadata.iccProfile
            && metadata.codePoints == other.metadata.codePoints
    }
}
