// SPDX-License-Identifier: MIT

import CSandbox
import Foundation
import Glibc
import WebImageCore

/// The main loop of a helper process: receives requests, does their work, and sends the results.
///
/// The process trusts the program that started it. Everything that it sends is checked there.
package final class HelperServer {
    private let coders: ImageCoderRegistry
    private let socket: Int32
    private var input: SharedRegion?
    private var output: SharedRegion?
    private var sessions = HelperSessions()
    /// The time without a request after which the helper frees memory, in milliseconds.
    private static let pause: Int32 = 1_000

    /// Creates a server for the program at the other end of a socket.
    package init(coders: ImageCoderRegistry, socket: Int32) {
        self.coders = coders
        self.socket = socket
    }

    /// Serves requests until the program closes its socket.
    package func run(report: IsolationReport) {
        guard send(MessageHead(.hello, request: 0), report.body) else { return }
        while let (head, body) = receive() { serve(head, body) }
    }

    private func serve(_ head: MessageHead, _ body: [UInt8]) {
        switch head.kind {
        case .closeSession: sessions.close(head.request)
        case .decode: reply(head.request) { () throws(HelperStop) in try decode(head, body) }
        case .frame: reply(head.request) { () throws(HelperStop) in try frame(head, body) }
        case .openProgressive: reply(head.request) { () throws(HelperStop) in try openProgressive(head, body) }
        case .append: reply(head.request) { () throws(HelperStop) in try append(head, body) }
        case .preview: reply(head.request) { () throws(HelperStop) in try preview(head, body) }
        case .encode: reply(head.request) { () throws(HelperStop) in try encode(head, body) }
        case .transcode: reply(head.request) { () throws(HelperStop) in try transcode(head, body) }
        // The program sends nothing else, so a bug is the only cause.
        default: wi_sandbox_exit(3)
        }
    }

    // MARK: Messages

    /// The results of a request.
    private enum Reply {
        case image(DecodedImage, PreviewBody? = nil)
        case bytes(Data)
        case done(Bool)
        case sessionLost
    }

    /// The reasons for which a request has no result.
    private enum HelperStop: Error {
        case failure(ImageError)
        case invalid(MalformedData)
    }

    private func reply(_ request: UInt64, _ work: () throws(HelperStop) -> Reply) {
        do throws(HelperStop) {
            switch try work() {
            case .image(let image, let preview): send(image, preview, request)
            case .bytes(let data): send(data, request)
            case .done(let flag): send(MessageHead(.done, request: request), NumberBody(flag ? 1 : 0).body)
            case .sessionLost: send(MessageHead(.sessionLost, request: request))
            }
        } catch {
            switch error {
            case .failure(let error): send(MessageHead(.failure, request: request), error.body)
            case .invalid: wi_sandbox_exit(3)
            }
        }
        // The arena uses the memory of this request. Later pixels must not overwrite a result that the program still
        // reads.
        PixelPool.shared.arena = nil
    }

    @discardableResult
    private func send(_ head: MessageHead, _ body: [UInt8] = []) -> Bool {
        let message = head.serialized(body)
        while true {
            switch wi_sandbox_send(socket, message, message.count, -1) {
            case 0: return true
            case EAGAIN: _ = wi_sandbox_poll(socket, true, -1)
            default: return false
            }
        }
    }

    /// Sends an image, whose pixels and values are placed in shared memory.
    private func send(_ image: DecodedImage, _ preview: PreviewBody?, _ request: UInt64) {
        let pixels = image.pixels
        let body = ImageBody(image, offset: 0, preview: preview).body
        let end = ImageBody.byteCount(image)
        // The gain map may be in the output memory, which the pixels overwrite.
        let gainMap = image.gainMap?.pixels.withUnsafeBytes { Data($0) }
        guard let output = outputMemory(end + body.count, request) else { return }
        pixels.withUnsafeBytes { bytes in
            // The decoder usually wrote the pixels there itself.
            if let base = bytes.baseAddress, base != UnsafeRawPointer(output.address) {
                output.address.copyMemory(from: base, byteCount: bytes.count)
            }
        }
        gainMap?.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            (output.address + ImageBody.gainMapOffset(image)).copyMemory(from: base, byteCount: bytes.count)
        }
        var head = MessageHead(.image, request: request)
        if body.count <= MessageHead.maxMessage - MessageHead.size {
            send(head, body)
        } else {
            (output.address + end).copyMemory(from: body, byteCount: body.count)
            head.bodyOffset = UInt64(end)
            head.bodyCount = UInt64(body.count)
            send(head)
        }
    }

    private func send(_ data: Data, _ request: UInt64) {
        guard let output = outputMemory(data.count, request) else { return }
        data.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { output.address.copyMemory(from: base, byteCount: bytes.count) }
        }
        send(MessageHead(.bytes, request: request), RangeBody(offset: 0, count: data.count).body)
    }

    /// Returns memory for a result. If the current memory is too small, the program sends other memory.
    private func outputMemory(_ byteCount: Int, _ request: UInt64) -> SharedRegion? {
        if let output, output.roomForResults >= byteCount { return output }
        // Retain the current memory, because it may contain the pixels.
        return withExtendedLifetime(output) {
            send(MessageHead(.needsRegion, request: request), NumberBody(byteCount).body)
            guard receiveRegion(), let output, output.roomForResults >= byteCount else { wi_sandbox_exit(3) }
            return output
        }
    }

    private func receiveRegion() -> Bool {
        guard wi_sandbox_poll(socket, false, -1) == 1, case .region? = receiveOne() else { return false }
        return true
    }

    private enum Received {
        case message(MessageHead, [UInt8])
        case region
    }

    /// Waits for the next request. Returns `nil` at the end.
    private func receive() -> (MessageHead, [UInt8])? {
        var hasTrimmed = false
        while true {
            // After it has freed its memory, the helper has no reason to wake up before the next request.
            switch wi_sandbox_poll(socket, false, hasTrimmed ? -1 : Self.pause) {
            case 0:
                PixelPool.shared.trim()
                wi_sandbox_trim()
                hasTrimmed = true
            case 1:
                switch receiveOne() {
                case .message(let head, let body): return (head, body)
                case .region: continue
                case nil: return nil
                }
            default: return nil
            }
        }
    }

    private func receiveOne() -> Received? {
        var descriptor: Int32 = -1
        var count = 0
        let message = [UInt8](unsafeUninitializedCapacity: MessageHead.maxMessage) { buffer, initialized in
            count = wi_sandbox_receive(socket, buffer.baseAddress, buffer.count, &descriptor)
            initialized = max(0, count)
        }
        guard count > 0, let (head, inline) = try? MessageHead.parse(message) else { return nil }
        var body = inline
        if head.bodyCount > 0 {
            guard let copy = input?.copy(offset: head.bodyOffset, count: head.bodyCount) else { return nil }
            body = copy
        }
        guard head.kind == .inputRegion || head.kind == .outputRegion else { return .message(head, body) }
        guard let size = try? NumberBody(body: body).number,
            let region = SharedRegion(adopting: descriptor, size: size, isWritable: head.kind == .outputRegion)
        else { return nil }
        head.kind == .inputRegion ? (input = region) : (output = region)
        return .region
    }

    // MARK: Work

    private func parse<Value: BinaryCodable>(_: Value.Type, _ body: [UInt8]) throws(HelperStop) -> Value {
        do throws(MalformedData) { return try Value(body: body) } catch { throw .invalid(error) }
    }

    private func attempt<Result>(_ work: () throws(ImageError) -> Result) throws(HelperStop) -> Result {
        do throws(ImageError) { return try work() } catch { throw .failure(error) }
    }

    private func coder(_ name: String) throws(HelperStop) -> any ImageCoder {
        guard let coder = coders.coder(named: name) else {
            throw .failure(.decoding(.unsupportedFeature(format: ImageFormat(rawValue: name), feature: "this coder")))
        }
        return coder
    }

    /// Returns the limits of a request, which ends if the program cancels it.
    private func context(_ rules: WorkRules, _ request: UInt64) -> ImageProcessingContext {
        let input = input
        return rules.context {
            guard let input else { return false }
            // The word contains the number of the canceled request, so a late cancellation doesn't affect the next
            // request.
            return wi_sandbox_load(input.address) == UInt32(truncatingIfNeeded: request)
        }
    }

    /// Returns the payload. Without a copy, it's valid until the next request.
    private func payload(_ count: Int, copies: Bool) throws(HelperStop) -> Data {
        guard let input, count <= input.size - InputLayout.payload else {
            throw .invalid(MalformedData("the data is outside the memory"))
        }
        let address = input.address + InputLayout.payload
        return copies
            ? Data(bytes: address, count: count) : Data(bytesNoCopy: address, count: count, deallocator: .none)
    }

    private func decode(_ head: MessageHead, _ body: [UInt8]) throws(HelperStop) -> Reply {
        let request = try parse(DecodeBody.self, body)
        let coder = try coder(request.coder)
        let mayAnimate =
            request.options.frames.coderSelection == .all
            && !(request.info.map { $0.frameCountIsExact && $0.frameCount == 1 } ?? false)
        // The decoder of an animation keeps the data.
        let data = try payload(request.dataCount, copies: mayAnimate)
        let context = context(request.rules, head.request)
        if !mayAnimate, let output {
            // The decoder writes the pixels directly into shared memory.
            PixelPool.shared.arena = PixelArena(address: output.address, capacity: output.roomForResults) { count in
                wi_sandbox_set_progress(
                    output.progress, EarlyCopy.progress(of: head.request, finishedBytes: count))
            }
        }
        var image = try attempt { () throws(ImageError) in
            try coder.decode(data, info: request.info, options: request.options, context: context)
        }
        if !mayAnimate, image.animation != nil {
            // The header was wrong. Decode again with data and memory that the animation may keep.
            PixelPool.shared.arena = nil
            let copy = try payload(request.dataCount, copies: true)
            image = try attempt { () throws(ImageError) in
                try coder.decode(copy, info: request.info, options: request.options, context: context)
            }
        }
        if let animation = image.animation, request.session != 0 { sessions.keep(animation, request.session) }
        guard let index = request.frame else { return .image(image) }
        guard let animation = image.animation else {
            throw .failure(.request(.frameNotFound(index: index, frameCount: 1)))
        }
        let pixels = try attempt { () throws(ImageError) in try animation.frame(at: index) }
        return .image(image.replacing(pixels: pixels, animation: animation))
    }

    private func frame(_ head: MessageHead, _ body: [UInt8]) throws(HelperStop) -> Reply {
        let request = try parse(SessionBody.self, body)
        guard let animation = sessions.animation(request.session) else { return .sessionLost }
        let pixels = try attempt { () throws(ImageError) in try animation.frame(at: request.number) }
        return .image(DecodedImage(pixels: pixels))
    }

    private func openProgressive(_ head: MessageHead, _ body: [UInt8]) throws(HelperStop) -> Reply {
        let request = try parse(OpenBody.self, body)
        let coder = try coder(request.decode.coder)
        guard let info = request.decode.info else { return .done(false) }
        let context = context(request.decode.rules, head.request)
        let decoder = try attempt { () throws(ImageError) -> (any ProgressiveImageDecoder)? in
            guard request.grows else {
                return try coder.makeProgressiveDecoder(info: info, options: request.decode.options, context: context)
            }
            return try (coder as? any GrowingAnimationCoder)?.makeGrowingDecoder(
                info: info, options: request.decode.options, context: context)
        }
        guard let decoder else { return .done(false) }
        sessions.keep(decoder, request.decode.session)
        return .done(true)
    }

    private func append(_ head: MessageHead, _ body: [UInt8]) throws(HelperStop) -> Reply {
        let request = try parse(SessionBody.self, body)
        guard let decoder = sessions.decoder(request.session) else { return .sessionLost }
        let data = try payload(request.number, copies: true)
        let context = context(request.rules, head.request)
        try attempt { () throws(ImageError) in
            try decoder.append(data, isLast: request.isLast, context: context)
        }
        return .done(true)
    }

    private func preview(_ head: MessageHead, _ body: [UInt8]) throws(HelperStop) -> Reply {
        let request = try parse(SessionBody.self, body)
        guard let decoder = sessions.decoder(request.session) else { return .sessionLost }
        let context = context(request.rules, head.request)
        let preview = try attempt { () throws(ImageError) in try decoder.makePreview(context: context) }
        guard let preview else { return .done(false) }
        if let animation = preview.image.animation, request.previewSession != 0 {
            sessions.keep(animation, request.previewSession)
        }
        return .image(preview.image, PreviewBody(preview))
    }

    private func encode(_ head: MessageHead, _ body: [UInt8]) throws(HelperStop) -> Reply {
        let request = try parse(EncodeBody.self, body)
        let coder = try coder(request.coder)
        guard let description = request.image else { throw .invalid(MalformedData("the image is missing")) }
        let pixels = try pixels(description.pixels)
        let frames = description.timeline.map { timeline in
            ImageAnimation(
                RemoteFrames(timeline: timeline) { [weak self] (index) throws(ImageError) in
                    guard let self else { throw .cancelled }
                    return try self.remoteFrame(index, head.request)
                })
        }
        var image = DecodedImage(
            pixels: pixels, animation: frames, scale: description.scale, format: description.format,
            metadata: description.metadata)
        if let map = description.gainMapBody {
            image = image.with(gainMap: GainMap(pixels: try self.pixels(map.pixels), metadata: map.metadata))
        }
        let context = context(request.rules, head.request)
        return .bytes(
            try attempt { () throws(ImageError) in
                try coder.encode(image, as: request.encoding, context: context)
            })
    }

    private func transcode(_ head: MessageHead, _ body: [UInt8]) throws(HelperStop) -> Reply {
        let request = try parse(EncodeBody.self, body)
        guard let coder = try coder(request.coder) as? any TranscodingImageCoder, let format = request.format else {
            return .done(false)
        }
        let data = try payload(request.dataCount, copies: false)
        let context = context(request.rules, head.request)
        let result = try attempt { () throws(ImageError) in
            try coder.transcode(data, from: format, as: request.encoding, context: context)
        }
        return result.map { .bytes($0) } ?? .done(false)
    }

    private func pixels(_ body: PixelBody) throws(HelperStop) -> PixelBuffer {
        guard let input else { throw .invalid(MalformedData("there is no memory")) }
        do throws(MalformedData) {
            let copy = try body.copy(from: input.bytes)
            return try attemptCopy(copy)
        } catch {
            throw .invalid(error)
        }
    }

    private func attemptCopy(_ copy: Result<PixelBuffer, ImageError>) throws(MalformedData) -> PixelBuffer {
        guard case .success(let pixels) = copy else { throw MalformedData("there is no memory for the pixels") }
        return pixels
    }

    /// Returns a frame of the image to encode, which the program sends on demand.
    private func remoteFrame(_ index: Int, _ request: UInt64) throws(ImageError) -> PixelBuffer {
        send(MessageHead(.needsFrame, request: request), NumberBody(index).body)
        while true {
            guard wi_sandbox_poll(socket, false, -1) == 1, let received = receiveOne() else { wi_sandbox_exit(0) }
            // The program sends larger memory before the frame if necessary.
            guard case .message(let head, let body) = received else { continue }
            guard head.kind == .framePixels, let layout = try? PixelBody(body: body), let input,
                let copy = try? layout.copy(from: input.bytes)
            else { wi_sandbox_exit(3) }
            return try copy.get()
        }
    }
}

/// The frames of an image that the program sends on demand.
///
/// Safe: the encoder calls the function only on the thread of the request, which waits for the encoder.
private struct RemoteFrames: AnimationDecoder, @unchecked Sendable {
    let timeline: AnimationTimeline
    let load: (Int) throws(ImageError) -> PixelBuffer

    var cost: Int { 0 }

    func frame(at index: Int) throws(ImageError) -> PixelBuffer { try load(index) }
}

/// The animations and the progressive decoders that a helper keeps between requests.
struct HelperSessions {
    private enum Content {
        case animation(ImageAnimation)
        case decoder(any ProgressiveImageDecoder)
    }

    /// The sessions, with the one used last at the end.
    private var sessions: [(number: UInt64, content: Content)] = []
    /// The maximum number of sessions. The program creates a lost session again.
    private static let limit = 12

    mutating func keep(_ animation: ImageAnimation, _ number: UInt64) { insert(.animation(animation), number) }
    mutating func keep(_ decoder: any ProgressiveImageDecoder, _ number: UInt64) { insert(.decoder(decoder), number) }

    mutating func animation(_ number: UInt64) -> ImageAnimation? {
        if case .animation(let animation) = use(number) { animation } else { nil }
    }

    mutating func decoder(_ number: UInt64) -> (any ProgressiveImageDecoder)? {
        if case .decoder(let decoder) = use(number) { decoder } else { nil }
    }

    mutating func close(_ number: UInt64) { sessions.removeAll { $0.number == number } }

    private mutating func insert(_ content: Content, _ number: UInt64) {
        close(number)
        if sessions.count == Self.limit { sessions.removeFirst() }
        sessions.append((number, content))
    }

    private mutating func use(_ number: UInt64) -> Content? {
        guard let place = sessions.firstIndex(where: { $0.number == number }) else { return nil }
        let found = sessions.remove(at: place)
        sessions.append(found)
        return found.content
    }
}
