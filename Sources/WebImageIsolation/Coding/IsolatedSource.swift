// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A file that helpers decode, with everything that another helper needs to open it again.
struct IsolatedSource: Sendable {
    let client: HelperClient
    let base: any ImageCoder
    let data: Data
    let info: ImageInfo?
    var options: ImageDecodingOptions
    /// The number of the session in which a helper keeps the animation, or 0.
    let session: UInt64
    /// If the animation belongs to a preview, whether the data is complete. Only a progressive decoder makes the frames
    /// of incomplete data as the preview showed them.
    var isLastOfPreview: Bool?

    /// A decoded image or a frame, and the helper that has the session.
    private struct Opened {
        let body: ImageBody
        let pixels: PixelBuffer
        let helper: UInt64
    }

    func decode(context: ImageProcessingContext) throws(ImageError) -> DecodedImage {
        let result = try client.run(data, memory: memory(context.limits), context: context) {
            () throws(ImageError) -> Result<Decoded, ImageError> in
            .success(.here(try base.decode(data, info: info, options: options, context: context)))
        } _: { (helper) throws(HelperFailure) -> Result<Decoded, ImageError> in
            try open(helper, frame: nil, context: context).map { .there($0) }
        }
        switch try result.get() {
        case .here(let image): return image
        case .there(let opened): return image(opened, limits: context.limits)
        }
    }

    private enum Decoded {
        case here(DecodedImage)
        case there(Opened)
    }

    private func image(_ opened: Opened, limits: ImageLimits) -> DecodedImage {
        let animation = opened.body.timeline.map { timeline in
            ImageAnimation(IsolatedAnimation(self, timeline: timeline, limits: limits, helper: opened.helper))
        }
        return DecodedImage(
            pixels: opened.pixels, animation: animation, scale: options.scale, format: opened.body.format,
            metadata: opened.body.metadata
        ).with(gainMap: opened.body.gainMap)
    }

    private func memory(_ limits: ImageLimits) -> Int {
        HelperMemory.decoding(data.count, info, options, kind: client.kind, limits)
    }

    /// Decodes the file in a helper, which keeps the animation.
    private func open(
        _ helper: HelperProcess, frame: Int?, context: ImageProcessingContext
    ) throws(HelperFailure) -> Result<Opened, ImageError> {
        let exchange = HelperExchange(
            helper, context: context, bounds: .init(context.limits), expected: EarlyCopy(info, options, context.limits))
        let body = DecodeBody(
            rules: WorkRules(context), coder: client.coder, dataCount: data.count, info: info, options: options,
            session: session, frame: frame
        ).body
        try exchange.write(data, room: body.count)
        try helper.ensureOutput(expectedBytes(context.limits))
        try exchange.send(.decode, body, payload: data.count)
        return try checked(try exchange.response(), exchange)
    }

    private func checked(
        _ response: HelperExchange.Response, _ exchange: HelperExchange
    ) throws(HelperFailure) -> Result<Opened, ImageError> {
        switch response {
        case .failure(let error): return .failure(error)
        case .image(let body, let pixels):
            guard let format = body.format, format.isImage,
                base.canDecode(format, prefix: Data()) || format == info?.format
            else { throw exchange.violation("the format is wrong") }
            guard body.timeline == nil || session != 0 else { throw exchange.violation("a still image is animated") }
            guard body.metadata.exif == nil, body.metadata.xmp == nil else {
                throw exchange.violation("a decoder doesn't return EXIF and XMP")
            }
            return .success(Opened(body: body, pixels: pixels, helper: exchange.helper.number))
        default: throw HelperClient.unexpected(exchange)
        }
    }

    /// Returns the expected size of the result, so that the helper decodes directly into shared memory.
    private func expectedBytes(_ limits: ImageLimits) -> Int {
        guard let info else { return SharedRegion.smallest }
        let size = (try? options.size?.plan(for: info.size, scale: options.scale).output) ?? info.size
        let format = options.pixelFormat(info.bitDepth)
        let (bytes, overflow) = (format.bytesPerRow(width: size.width) ?? .max)
            .multipliedReportingOverflow(by: max(1, size.height))
        // With room for the values that follow the pixels.
        return (overflow ? 0 : min(bytes, limits.maxDecodedBytes, 1 << 34)) + MessageHead.maxMessage
    }

    /// Decodes a frame of the animation. `preferred` is the number of the helper that has the session, and the result
    /// includes the number of the helper that has it then.
    func frame(
        at index: Int, preferred: UInt64, context: ImageProcessingContext
    ) throws(ImageError) -> (pixels: PixelBuffer, helper: UInt64) {
        let result = try client.run(data, preferred: preferred, memory: memory(context.limits), context: context) {
            () throws(ImageError) -> Result<(pixels: PixelBuffer, helper: UInt64), ImageError> in
            guard let animation = try animationInProcess(context) else {
                throw .request(.frameNotFound(index: index, frameCount: 1))
            }
            return .success((try animation.frame(at: index), preferred))
        } _: { (helper) throws(HelperFailure) -> Result<(pixels: PixelBuffer, helper: UInt64), ImageError> in
            if helper.number == preferred, let found = try sessionFrame(index, helper, context) { return found }
            if let isLast = isLastOfPreview { return try previewFrame(index, isLast: isLast, helper, context) }
            return try open(helper, frame: index, context: context).map { ($0.pixels, $0.helper) }
        }
        return try result.get()
    }

    private func animationInProcess(_ context: ImageProcessingContext) throws(ImageError) -> ImageAnimation? {
        guard let isLast = isLastOfPreview, let info, let coder = base as? any GrowingAnimationCoder else {
            return try base.decode(data, info: info, options: options, context: context).animation
        }
        let decoder = try coder.makeGrowingDecoder(info: info, options: options, context: context)
        try decoder?.append(data, isLast: isLast, context: context)
        return try decoder?.makePreview(context: context)?.image.animation
    }

    /// Creates the session of a preview again, and returns a frame.
    private func previewFrame(
        _ index: Int, isLast: Bool, _ helper: HelperProcess, _ context: ImageProcessingContext
    ) throws(HelperFailure) -> Result<(pixels: PixelBuffer, helper: UInt64), ImageError> {
        guard let info else { throw .failed(.decoding(.unknownFormat)) }
        let decoder = IsolatedProgressiveDecoder(
            client: client, base: base, info: info, options: options, grows: true, limits: context.limits)
        try decoder.restore(data, isLast: isLast, animation: session, helper, context)
        guard let found = try sessionFrame(index, helper, context) else {
            throw helper.end(.violation("the animation of the preview was lost"))
        }
        return found
    }

    /// Returns a frame of the session of a helper, or `nil` if the helper doesn't have the session any longer.
    private func sessionFrame(
        _ index: Int, _ helper: HelperProcess, _ context: ImageProcessingContext
    ) throws(HelperFailure) -> Result<(pixels: PixelBuffer, helper: UInt64), ImageError>? {
        let exchange = HelperExchange(helper, context: context, bounds: .init(context.limits))
        try exchange.send(.frame, SessionBody(rules: WorkRules(context), session: session, number: index).body)
        switch try exchange.response() {
        case .sessionLost: return nil
        case .image(_, let pixels): return .success((pixels, helper.number))
        case .failure(let error): return .failure(error)
        default: throw HelperClient.unexpected(exchange)
        }
    }
}

/// The frames of an animation that helpers decode. This process retains the encoded data, so that another helper can
/// replace the one that has the session.
final class IsolatedAnimation: AnimationDecoder, RemoteWorker {
    let timeline: AnimationTimeline
    let isComplete: Bool
    private let source: IsolatedSource
    private let limits: ImageLimits
    private let helper: Lock<UInt64>

    init(
        _ source: IsolatedSource, timeline: AnimationTimeline, limits: ImageLimits, helper: UInt64,
        isComplete: Bool = true
    ) {
        self.source = source
        self.timeline = timeline
        self.limits = limits
        self.isComplete = isComplete
        self.helper = Lock(helper)
    }

    deinit { source.client.pool?.close(session: source.session, of: helper.withLock { $0 }) }

    var cost: Int { source.data.count }

    var remoteWork: RemoteWork? { source.client.remoteWork }

    func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(index) else {
            throw .request(.frameNotFound(index: index, frameCount: timeline.frameCount))
        }
        // Use a deadline per frame, because playback may last for hours.
        let context = ImageProcessingContext(limits: limits)
        let found = try source.frame(at: index, preferred: helper.withLock { $0 }, context: context)
        helper.withLock { $0 = found.helper }
        return found.pixels
    }
}
