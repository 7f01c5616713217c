// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A progressive decoder in a helper. This process retains the received data, so that another helper can replace the
/// one that has the decoder.
final class IsolatedProgressiveDecoder: ProgressiveImageDecoder {
    private struct State {
        /// The received data in pieces, because appending to shared data would copy it.
        var pieces: [Data] = []
        var isLast = false
        var helper: UInt64 = 0
        var failure: ImageError?
        /// The decoder in this process, if helpers became unusable.
        var local: (any ProgressiveImageDecoder)?
    }

    private let client: HelperClient
    private let base: any ImageCoder
    private let info: ImageInfo
    private let options: ImageDecodingOptions
    private let grows: Bool
    private let limits: ImageLimits
    private let session = SessionNumbers.next()
    private let state = Lock(State())

    init(
        client: HelperClient, base: any ImageCoder, info: ImageInfo, options: ImageDecodingOptions, grows: Bool,
        limits: ImageLimits
    ) {
        self.client = client
        self.base = base
        self.info = info
        self.options = options
        self.grows = grows
        self.limits = limits
    }

    /// The memory that the decoder needs with the data that it has received, in bytes.
    var memory: Int {
        let received = state.withLock { $0.pieces.reduce(0) { $0 + $1.count } }
        return HelperMemory.decoding(received, info, options, kind: client.kind, limits)
    }

    deinit { client.pool?.close(session: session, of: state.withLock { $0.helper }) }

    /// Creates the decoder in a helper. Returns `false` if the coder has no previews of the file.
    func open(_ helper: HelperProcess, context: ImageProcessingContext) throws(HelperFailure) -> Bool {
        let exchange = HelperExchange(helper, context: context, bounds: .init(limits))
        let body = OpenBody(
            decode: DecodeBody(
                rules: WorkRules(context), coder: client.coder, dataCount: 0, info: info, options: options,
                session: session),
            grows: grows
        ).body
        _ = try helper.inputRegion(body.count)
        try exchange.send(.openProgressive, body)
        switch try exchange.response() {
        case .done(let isOpen):
            state.withLock { $0.helper = helper.number }
            return isOpen
        case .failure(let error): throw .failed(error)
        default: throw HelperClient.unexpected(exchange)
        }
    }

    func append(_ data: Data, isLast: Bool, context: ImageProcessingContext) throws(ImageError) {
        // Record the data before the work, because the helper can end during the work.
        let before = state.withLock { state -> [Data] in
            defer {
                state.pieces.append(data)
                state.isLast = isLast
            }
            return state.pieces
        }
        if let local = state.withLock({ $0.local }) {
            return try local.append(data, isLast: isLast, context: context)
        }
        try run(context, before: before) { () throws(ImageError) in
            let local = try localDecoder(context)
            try local.append(before.joined(), isLast: false, context: context)
            try local.append(data, isLast: isLast, context: context)
        } _: { (helper) throws(HelperFailure) in
            try pass(data, isLast: isLast, helper, context)
        }
    }

    func makePreview(context: ImageProcessingContext) throws(ImageError) -> ImagePreview? {
        if let local = state.withLock({ $0.local }) { return try local.makePreview(context: context) }
        let (received, isLast) = state.withLock { ($0.pieces, $0.isLast) }
        return try run(context, before: received, isLast: isLast) { () throws(ImageError) in
            let local = try localDecoder(context)
            try local.append(received.joined(), isLast: isLast, context: context)
            return try local.makePreview(context: context)
        } _: { (helper) throws(HelperFailure) in
            try preview(helper, received, context)
        }
    }

    /// Does work in the helper that has the decoder, or creates the decoder again in another one.
    private func run<Result>(
        _ context: ImageProcessingContext, before: [Data], isLast: Bool = false,
        inProcess: () throws(ImageError) -> Result,
        _ work: (HelperProcess) throws(HelperFailure) -> Result?
    ) throws(ImageError) -> Result {
        let preferred = state.withLock { $0.helper }
        return try client.run(
            before.joined(), preferred: preferred, memory: memory, context: context, inProcess: inProcess
        ) { (helper) throws(HelperFailure) in
            if helper.number == preferred, let result = try work(helper) { return result }
            guard try open(helper, context: context) else {
                throw helper.end(.violation("the decoder can't be created again"))
            }
            if !before.isEmpty { _ = try pass(before.joined(), isLast: isLast, helper, context) }
            guard let result = try work(helper) else { throw helper.end(.violation("the decoder was lost")) }
            return result
        }
    }

    /// Passes data to the decoder. Returns `nil` if the helper doesn't have the decoder.
    private func pass(
        _ data: Data, isLast: Bool, _ helper: HelperProcess, _ context: ImageProcessingContext
    ) throws(HelperFailure) -> Void? {
        let exchange = HelperExchange(helper, context: context, bounds: .init(limits))
        let body = SessionBody(rules: WorkRules(context), session: session, number: data.count, isLast: isLast).body
        try exchange.write(data, room: body.count)
        try exchange.send(.append, body, payload: data.count)
        switch try exchange.response() {
        case .done: return ()
        case .sessionLost: return nil
        case .failure(let error): throw .failed(error)
        default: throw HelperClient.unexpected(exchange)
        }
    }

    /// Returns a preview. The outer result is `nil` if the helper doesn't have the decoder.
    private func preview(
        _ helper: HelperProcess, _ received: [Data], _ context: ImageProcessingContext
    ) throws(HelperFailure) -> ImagePreview?? {
        let exchange = HelperExchange(helper, context: context, bounds: .init(limits))
        let animation = grows ? SessionNumbers.next() : 0
        let body = SessionBody(rules: WorkRules(context), session: session, previewSession: animation).body
        try exchange.send(.preview, body)
        switch try exchange.response() {
        case .done: return .some(nil)
        case .sessionLost: return nil
        case .failure(let error): throw .failed(error)
        case .image(let body, let pixels):
            guard let values = body.preview, body.timeline == nil || grows,
                body.format == nil || body.format?.isImage == true
            else { throw HelperClient.unexpected(exchange) }
            return preview(body, values, pixels, received, animation, helper.number)
        default: throw HelperClient.unexpected(exchange)
        }
    }

    /// Creates the decoder again and passes all data, so that the helper keeps the animation of the preview.
    func restore(
        _ data: Data, isLast: Bool, animation: UInt64, _ helper: HelperProcess, _ context: ImageProcessingContext
    ) throws(HelperFailure) {
        guard try open(helper, context: context), try pass(data, isLast: isLast, helper, context) != nil else {
            throw helper.end(.violation("the decoder can't be created again"))
        }
        let exchange = HelperExchange(helper, context: context, bounds: .init(limits))
        let body = SessionBody(rules: WorkRules(context), session: session, previewSession: animation).body
        try exchange.send(.preview, body)
        switch try exchange.response() {
        case .image, .done: return
        case .failure(let error): throw .failed(error)
        default: throw HelperClient.unexpected(exchange)
        }
    }

    private func preview(
        _ body: ImageBody, _ values: PreviewBody, _ pixels: PixelBuffer, _ received: [Data], _ animation: UInt64,
        _ helper: UInt64
    ) -> ImagePreview {
        let isLast = state.withLock { $0.isLast }
        let frames = body.timeline.map { timeline in
            let source = IsolatedSource(
                client: client, base: base, data: received.joined(), info: info, options: options, session: animation,
                isLastOfPreview: isLast)
            return ImageAnimation(
                IsolatedAnimation(
                    source, timeline: timeline, limits: limits, helper: helper, isComplete: body.isComplete))
        }
        let image = DecodedImage(
            pixels: pixels, animation: frames, scale: options.scale, format: body.format, metadata: body.metadata)
        var preview = ImagePreview(
            image: image, completedRows: values.completedRows, completedPasses: values.completedPasses,
            passCount: values.passCount, fractionCompleted: values.fraction, isComplete: values.isComplete)
        preview.detail = values.detail
        return preview
    }

    private func localDecoder(_ context: ImageProcessingContext) throws(ImageError) -> any ProgressiveImageDecoder {
        var decoder: (any ProgressiveImageDecoder)?
        if grows, let coder = base as? any GrowingAnimationCoder {
            decoder = try coder.makeGrowingDecoder(info: info, options: options, context: context)
        } else {
            decoder = try base.makeProgressiveDecoder(info: info, options: options, context: context)
        }
        guard let decoder else { throw .decoding(.unsupportedFeature(format: info.format, feature: "previews")) }
        state.withLock { $0.local = decoder }
        return decoder
    }
}

extension [Data] {
    fileprivate func joined() -> Data {
        guard count != 1 else { return self[0] }
        var data = Data(capacity: reduce(0) { $0 + $1.count })
        for piece in self { data.append(piece) }
        return data
    }
}
