// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder whose work runs in a helper process. This process itself decides about formats and requirements.
struct IsolatedCoder: ReducingImageCoder, TranscodingImageCoder, GrowingAnimationCoder, PreviewInspectingCoder,
    ColorPreparingCoder, RemoteWorker
{
    private let base: any ImageCoder
    private let client: HelperClient

    init(
        _ base: any ImageCoder, pool: HelperPool?, reason: String, kind: HelperKind, fallback: IsolationFallback
    ) {
        self.base = base
        client = HelperClient(
            pool: pool, reason: reason, kind: kind, coder: base.identifier, format: nil, fallback: fallback)
    }

    var identifier: String { base.identifier }

    var remoteWork: RemoteWork? { client.remoteWork }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { base.canDecode(format, prefix: prefix) }

    func canEncode(_ format: ImageFormat) -> Bool { base.canEncode(format) }

    func canTranscode(_ source: ImageFormat, to target: ImageFormat) -> Bool {
        (base as? any TranscodingImageCoder)?.canTranscode(source, to: target) ?? false
    }

    func mayHavePreviews(_ prefix: Data) -> Bool {
        (base as? any PreviewInspectingCoder)?.mayHavePreviews(prefix) ?? true
    }

    func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
    ) -> DecodingRequirements? {
        (base as? any ReducingImageCoder)?.requirements(for: info, options: options, isIncremental: isIncremental)
    }

    // MARK: Decoding

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        let source = IsolatedSource(
            client: client.naming(info?.format), base: base, data: data, info: info, options: options,
            session: options.frames.coderSelection == .all ? SessionNumbers.next() : 0)
        return try source.decode(context: context)
    }

    func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        try progressiveDecoder(info, options, grows: false, context) { () throws(ImageError) in
            try base.makeProgressiveDecoder(info: info, options: options, context: context)
        }
    }

    func makeGrowingDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        guard let coder = base as? any GrowingAnimationCoder else { return nil }
        return try progressiveDecoder(info, options, grows: true, context) { () throws(ImageError) in
            try coder.makeGrowingDecoder(info: info, options: options, context: context)
        }
    }

    private func progressiveDecoder(
        _ info: ImageInfo, _ options: ImageDecodingOptions, grows: Bool, _ context: ImageProcessingContext,
        inProcess: () throws(ImageError) -> (any ProgressiveImageDecoder)?
    ) throws(ImageError) -> (any ProgressiveImageDecoder)? {
        // Without a helper, a vector image fails when it's complete, and it has no previews.
        guard client.pool != nil || client.fallback == .inProcess else { return nil }
        let decoder = IsolatedProgressiveDecoder(
            client: client.naming(info.format), base: base, info: info, options: options, grows: grows,
            limits: context.limits)
        return try client.naming(info.format).run(
            Data(), memory: decoder.memory, context: context, inProcess: inProcess
        ) { (helper) throws(HelperFailure) in try decoder.open(helper, context: context) ? decoder : nil
        }
    }

    // MARK: Encoding

    /// Converts pixels that this process has decoded, so it needs no helper.
    func prepared(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try (base as? any ColorPreparingCoder)?.prepared(image, as: encoding, context: context) ?? image
    }

    /// Renders pixels that the helper has decoded and checked, so it needs no helper.
    func displayedInPQ(_ image: DecodedImage, context: ImageProcessingContext) throws(ImageError) -> DecodedImage {
        try (base as? any ColorPreparingCoder)?.displayedInPQ(image, context: context) ?? image
    }

    func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        // The frames are chosen here, because the helper receives only the frames that it writes.
        let image = try image.selecting(encoding.frames)
        var encoding = encoding
        encoding.frames = .all
        let work = EncodeBody(
            rules: WorkRules(context), coder: base.identifier, encoding: encoding,
            image: ImageBody(image, offset: InputLayout.payload))
        let body = work.body
        let memory = HelperMemory.encoding(image, as: encoding.format)
        // The input consists of pixels, so there is no data to remember after a crash.
        let result = try client.naming(encoding.format).run(Data(), memory: memory, context: context) {
            () throws(ImageError) -> Result<Data?, ImageError> in
            .success(try base.encode(image, as: encoding, context: context))
        } _: { (helper) throws(HelperFailure) -> Result<Data?, ImageError> in
            let exchange = HelperExchange(helper, context: context, bounds: .init(context.limits))
            try exchange.write(image, room: body.count)
            try exchange.send(.encode, body, payload: ImageBody.byteCount(image))
            return try exchange.response { (index) throws(ImageError) in
                guard let animation = image.animation else {
                    throw .request(.frameNotFound(index: index, frameCount: 1))
                }
                // The first frame is already decoded.
                return index == 0 ? image.pixels : try animation.frame(at: index)
            }.encoded(exchange)
        }
        guard let data = try result.get() else {
            throw .processing(
                .encodingFailed(format: encoding.formatOrAutomatic, reason: "the helper returned no data"))
        }
        return data
    }

    func transcode(
        _ original: Data, from format: ImageFormat, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data? {
        guard let coder = base as? any TranscodingImageCoder else { return nil }
        let body = EncodeBody(
            rules: WorkRules(context), coder: base.identifier, encoding: encoding, image: nil, format: format,
            dataCount: original.count
        ).body
        let memory = HelperMemory.transcoding(original, to: encoding.format)
        let result = try client.naming(format).run(original, memory: memory, context: context) {
            () throws(ImageError) -> Result<Data?, ImageError> in
            .success(try coder.transcode(original, from: format, as: encoding, context: context))
        } _: { (helper) throws(HelperFailure) -> Result<Data?, ImageError> in
            let exchange = HelperExchange(helper, context: context, bounds: .init(context.limits))
            try exchange.write(original, room: body.count)
            try exchange.send(.transcode, body, payload: original.count)
            return try exchange.response().encoded(exchange)
        }
        return try result.get()
    }
}

extension HelperExchange.Response {
    /// Returns encoded data, or `nil` if the coder can't convert the file.
    fileprivate func encoded(_ exchange: HelperExchange) throws(HelperFailure) -> Result<Data?, ImageError> {
        switch self {
        case .bytes(let data): return .success(data)
        case .done(false): return .success(nil)
        case .failure(let error): return .failure(error)
        default: throw HelperClient.unexpected(exchange)
        }
    }
}

extension HelperClient {
    /// Returns the client for data of a format, which errors name.
    func naming(_ format: ImageFormat?) -> HelperClient {
        HelperClient(pool: pool, reason: reason, kind: kind, coder: coder, format: format, fallback: fallback)
    }
}

/// The numbers of the sessions in all helpers.
enum SessionNumbers {
    private static let counter = Counter()

    static func next() -> UInt64 { counter.next() }
}
