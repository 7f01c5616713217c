// SPDX-License-Identifier: MIT

import CSandbox
import Foundation
import WebImageCore

/// One request to a helper, with its deadline. Every response is treated as the message of an attacker.
struct HelperExchange {
    /// A checked response.
    enum Response {
        case image(ImageBody, PixelBuffer)
        case bytes(Data)
        case failure(ImageError)
        case done(Bool)
        case sessionLost
    }

    /// The values that bound the responses.
    struct Bounds {
        var resultBytes: Int
        var limits: ImageLimits

        init(_ limits: ImageLimits) {
            self.limits = limits
            // The sum with the size of a body must not overflow.
            resultBytes = min(limits.maxDecodedBytes, 1 << 40)
        }
    }

    let helper: HelperProcess
    let request: UInt64
    private let context: ImageProcessingContext
    private let bounds: Bounds
    private let clock: ExchangeClock
    private let startTime: Duration
    private let allowance: Duration

    /// The time between two checks of the deadline and of the cancellation, in milliseconds.
    private static let interval: Int32 = 5
    private var patience: HelperPatience { helper.patience }

    private let early: EarlyCopy?

    init(
        _ helper: HelperProcess, context: ImageProcessingContext, bounds: Bounds, expected: EarlyCopy? = nil
    ) {
        self.helper = helper
        early = expected
        self.context = context
        self.bounds = bounds
        request = helper.nextRequest()
        clock = ExchangeClock(id: helper.id)
        // The helper has served other requests, so only the difference counts.
        startTime = helper.processorTime
        allowance = context.remainingTime
    }

    /// Sends a request. A large body is passed in the input memory after the payload.
    func send(_ kind: MessageHead.Kind, _ body: [UInt8], payload: Int = 0) throws(HelperFailure) {
        var head = MessageHead(kind, request: request)
        // The socket preserves the boundaries of messages and bounds their size, so a larger body needs shared memory.
        guard body.count > MessageHead.maxMessage - MessageHead.size else {
            return try helper.send(head.serialized(body))
        }
        let (end, overflow) = payload.addingReportingOverflow(body.count)
        guard body.count <= MessageHead.maxBody, !overflow, let input = helper.input,
            input.size - InputLayout.payload >= end
        else { throw .failed(.request(.invalidOption(name: "options", value: "\(body.count) bytes"))) }
        let offset = InputLayout.payload + payload
        (input.address + offset).copyMemory(from: body, byteCount: body.count)
        head.bodyOffset = UInt64(offset)
        head.bodyCount = UInt64(body.count)
        try helper.send(head.serialized())
    }

    /// Copies data to the input memory, with room for a body.
    func write(_ data: Data, room: Int = 0) throws(HelperFailure) {
        let region = try helper.inputRegion(data.count + room)
        data.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            (region.address + InputLayout.payload).copyMemory(from: base, byteCount: bytes.count)
        }
    }

    /// Copies pixels to the input memory, with room for a body.
    func write(_ pixels: PixelBuffer, room: Int = 0) throws(HelperFailure) {
        let region = try helper.inputRegion(pixels.byteCount + room)
        pixels.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            (region.address + InputLayout.payload).copyMemory(from: base, byteCount: bytes.count)
        }
    }

    /// Copies the pixels and the gain map of an image to the input memory, with room for a body.
    func write(_ image: DecodedImage, room: Int) throws(HelperFailure) {
        let region = try helper.inputRegion(ImageBody.byteCount(image) + room)
        func copy(_ pixels: PixelBuffer, to offset: Int) {
            pixels.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                (region.address + InputLayout.payload + offset).copyMemory(from: base, byteCount: bytes.count)
            }
        }
        copy(image.pixels, to: 0)
        if let gainMap = image.gainMap { copy(gainMap.pixels, to: ImageBody.gainMapOffset(image)) }
    }

    /// Waits for the response. `frame` returns a frame of the image that the helper encodes.
    func response(
        frame: ((Int) throws(ImageError) -> PixelBuffer)? = nil
    ) throws(HelperFailure) -> Response {
        var growths = 0
        while true {
            try awaitMessage()
            let (head, body) = try helper.receive()
            guard head.request == request else { throw violation("a response belongs to another request") }
            switch head.kind {
            case .needsRegion:
                growths += 1
                // The helper knows the size of its result, so one growth suffices. Without this check, it could request
                // memory endlessly.
                guard growths == 1 else { throw violation("the helper requested memory twice") }
                let count = try value(NumberBody.self, body).number
                // The body of the response can follow the pixels in the same memory.
                guard count <= bounds.resultBytes + MessageHead.maxBody else {
                    throw violation("a result of \(count) bytes exceeds the limit")
                }
                try helper.ensureOutput(count)
            case .needsFrame:
                guard let frame else { throw violation("the helper requested a frame") }
                if let failure = try pass(frame, try value(NumberBody.self, body).number) { return .failure(failure) }
            default:
                charge()
                return try result(head.kind, body)
            }
        }
    }

    private func pass(
        _ frame: (Int) throws(ImageError) -> PixelBuffer, _ index: Int
    ) throws(HelperFailure) -> ImageError? {
        let pixels: PixelBuffer
        do throws(ImageError) {
            // The helper waits for the frame, so the time doesn't count for its timeout.
            pixels = try clock.pause { () throws(ImageError) in try frame(index) }
        } catch {
            // The helper waits for the frame, so end it.
            throw helper.end(.failed(error))
        }
        try write(pixels)
        try send(.framePixels, PixelBody(pixels, offset: InputLayout.payload).body)
        return nil
    }

    private func result(_ kind: MessageHead.Kind, _ body: [UInt8]) throws(HelperFailure) -> Response {
        switch kind {
        case .image: return try image(body)
        case .bytes:
            let part = try value(RangeBody.self, body)
            guard part.count <= bounds.resultBytes,
                let bytes = helper.output?.copy(offset: UInt64(part.offset), count: UInt64(part.count))
            else { throw violation("the result is outside the memory") }
            return .bytes(Data(bytes))
        case .failure:
            let error = try value(ImageError.self, body)
            return .failure(translated(error))
        case .done: return .done(try value(NumberBody.self, body).number == 1)
        case .sessionLost: return .sessionLost
        default: throw violation("the kind of a response is wrong")
        }
    }

    private func image(_ body: [UInt8]) throws(HelperFailure) -> Response {
        var image = try value(ImageBody.self, body)
        let pixels = image.pixels
        // The header was checked before the request, but a compromised helper can return any size.
        do throws(ImageError) { try bounds.limits.check(pixels.size) } catch { throw violation(error.message) }
        guard pixels.byteCount <= bounds.limits.maxDecodedBytes else {
            throw violation("the pixels have \(pixels.byteCount) bytes")
        }
        if let timeline = image.timeline, timeline.frameCount > bounds.limits.maxFrames {
            throw violation("the animation has \(timeline.frameCount) frames")
        }
        guard let memory = helper.output?.bytes else { throw violation("there is no memory for the pixels") }
        if let map = image.gainMapBody {
            switch try copy(gainMap: map, besides: pixels, from: memory) {
            case .success(let buffer): image.gainMap = GainMap(pixels: buffer, metadata: map.metadata)
            case .failure(let error): return .failure(error)
            }
        }
        if let buffer = early?.finish(pixels, memory: memory) { return .image(image, buffer) }
        let copy: Result<PixelBuffer, ImageError>
        do throws(MalformedData) { copy = try pixels.copy(from: memory) } catch { throw violation(error.reason) }
        switch copy {
        case .success(let buffer): return .image(image, buffer)
        case .failure(let error): return .failure(error)
        }
    }

    private func copy(
        gainMap: GainMapBody, besides pixels: PixelBody, from memory: UnsafeRawBufferPointer
    ) throws(HelperFailure) -> Result<PixelBuffer, ImageError> {
        do throws(ImageError) { try bounds.limits.check(gainMap.pixels.size) } catch { throw violation(error.message) }
        guard gainMap.pixels.byteCount <= bounds.limits.maxDecodedBytes - pixels.byteCount else {
            throw violation("the gain map has \(gainMap.pixels.byteCount) bytes")
        }
        do throws(MalformedData) { return try gainMap.pixels.copy(from: memory) } catch {
            throw violation(error.reason)
        }
    }

    private func value<Value: BinaryCodable>(_: Value.Type, _ body: [UInt8]) throws(HelperFailure) -> Value {
        do throws(MalformedData) { return try Value(body: body) } catch { throw violation(error.reason) }
    }

    /// Kills the helper because of a violation.
    func violation(_ reason: String) -> HelperFailure { helper.end(.violation(reason)) }

    /// Returns a failure with the limit of the whole operation, because the helper knows only the remaining time.
    private func translated(_ error: ImageError) -> ImageError {
        switch error {
        case .limitExceeded(let failure) where failure.kind == .decodingTime || failure.kind == .encodingTime:
            return timeFailure()
        case .cancelled:
            // If the request wasn't canceled, the helper must not end it as if it was.
            do throws(ImageError) { try context.checkCancellation() } catch { return error }
            return .decoding(.init(.decoderCrashed("it canceled the request")))
        default: return error
        }
    }

    // MARK: Deadline

    private var usedTime: Duration { max(.zero, helper.processorTime - startTime) }

    /// Adds the processor time of the helper to the operation, whose timeout covers all of its requests.
    private func charge() { context.charge(min(usedTime, clock.elapsed * 64)) }

    private func awaitMessage() throws(HelperFailure) {
        var cancelled: (error: ImageError, at: ContinuousClock.Instant)?
        while true {
            switch wi_sandbox_poll(helper.socket, false, Self.interval) {
            case 1: return
            case 0:
                early?.advance(in: helper.output, request: request)
                clock.look()
            default: throw helper.died()
            }
            if let cancelled {
                // The helper has a short time to stop on its own, because another one would have to be started in its
                // place.
                if cancelled.at.duration(to: .now) > patience.grace { throw helper.end(.failed(cancelled.error)) }
                continue
            }
            do throws(ImageError) {
                try context.checkCancellation()
            } catch {
                cancelled = (error, .now)
                helper.cancel(request)
                continue
            }
            // The helper checks the limits itself. This check matters only if its coder ignores them.
            if isOverdue { throw helper.end(.failed(timeFailure())) }
        }
    }

    /// Whether the helper used too much processor time, or waits for something that never happens.
    private var isOverdue: Bool {
        guard allowance < .unlimited else { return false }
        let elapsed = clock.elapsed
        // The processor time of another process needs a system call, so compare the elapsed time first.
        guard elapsed > allowance + patience.margin else { return false }
        // A busy machine delays honest helpers, so the elapsed time alone ends a request much later.
        return usedTime > allowance + patience.margin || clock.activeTime > allowance + patience.margin
            || elapsed > allowance * 4 + patience.idle
    }

    /// Returns the failure of an operation that used too much processor time, or that took too long without using it.
    private func timeFailure() -> ImageError {
        let used = max(usedTime, clock.activeTime - patience.margin)
        let isWaiting = usedTime < allowance
        return .limitExceeded(
            ImageError.LimitFailure(
                context.isEncoding ? .encodingTime : .decodingTime,
                limit: Int(saturating: context.timeLimit / .milliseconds(1)),
                actual: Int(saturating: (context.timeLimit - allowance + used) / .milliseconds(1)),
                detail: isWaiting ? "the helper process doesn’t respond" : ""))
    }
}
