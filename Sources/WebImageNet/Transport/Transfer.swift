// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// One exchange on the network thread, which processes the data from libcurl's callbacks. Only the network thread uses
/// it.
final class Transfer {
    /// The maximum number of bytes of an ignored body to read so that the connection can be reused.
    static let mostDiscarded = 64 << 10

    /// The maximum time to wait for the end of an ignored body or for the beginning of the body of a rejected response, in
    /// nanoseconds. Without this limit, a slow server would delay the next request or the error.
    static let longestWaitForIgnoredBody: Int64 = 500_000_000

    /// The state of the connection that libcurl chose for a request.
    enum ConnectionState {
        case usable
        case unusable
        /// A connection that isn't connected yet. libcurl 7.88 assigns HTTP/2 requests to it, and then fails to send them.
        case opening
        case unknown
    }

    /// The reason why a request isn't sent over the connection that libcurl chose.
    enum Refusal {
        case openingConnection
        /// A connection that received data while it was idle, or that has ended.
        case unusableConnection
        /// A connection that a repeated request must not use.
        case unsuitableConnection
        case sentTooOften
        /// A request that isn't idempotent and that the server may have processed.
        case mayBeProcessed
    }

    enum Reception {
        case received
        /// libcurl must retain the chunk and deliver it again later.
        case paused
        case stopped
    }

    let submission: QueuedTransfer
    /// The part of the budget for bodies that the transfer uses, or `nil` before it starts.
    private(set) var charge: BodyCharge?
    private(set) var pauseStart: Int64?
    /// The time that the transfer was paused, in nanoseconds. It doesn't count for the total timeout.
    private(set) var pausedTime: Int64 = 0
    var handle: EasyHandle?
    /// The live priority. The header field of a running request has the priority with which the request started.
    private(set) var priority: RequestPriority
    /// The time at which the transfer left the queue, in nanoseconds of the monotonic clock.
    var started: Int64 = 0
    /// The time of the last received byte or of the start of the wait for one, in nanoseconds of the monotonic clock.
    var lastActivity: Int64 = 0
    var requestTime = Date()
    private(set) var needsNewConnection = false
    /// The number of the current attempt to send the request, starting at 1.
    private(set) var attempt = 1
    private var sends = 0
    /// The connection over which the request was last sent, or `nil` if it wasn't sent.
    private var earlier: Connection?
    /// The number of connections that had been opened when the request was last sent.
    private var openedBefore = 0
    private var stream: Int?
    /// The event with which the server refused the request on its stream, or `nil` if it didn't.
    private var streamRefusal: wi_stream_event?
    /// The number of responses that had begun over the connection when the request was sent.
    private var responsesBefore = 0
    /// The number of bytes in header lines when the request was last sent.
    private var receivedBefore = 0
    /// The proxy, or `nil` for a direct connection.
    var proxy: ProxyAddress?
    /// The last connection that was opened for the transfer, or `nil` if it reuses one.
    var opened: Connection?
    var tls: TLSFacts?
    /// The connection over which the request is sent, or `nil` if it wasn't sent.
    var connection: Connection?
    private(set) var refusal: Refusal?
    var isDone = false
    /// The address range that the policy rejected, or `nil` if no address was rejected.
    var refusedAddress: String?
    private(set) var stop: ImageError?
    private(set) var parser = ResponseHeadParser()
    private(set) var received = 0
    var speed: TransferSpeedMeter?
    private var head: HTTPResponseHead?
    private var responseTime = Date()
    private var body: ResponseBuffer?
    private var decoder: ContentDecoder?
    private var resume: ResumeStateMachine
    /// The encoded body as received, if it can be resumed.
    private var coded: ResponseBuffer?
    /// Whether the rest of the body is read only to reuse the connection.
    private(set) var isDiscarding = false
    /// The length of a body whose end libcurl doesn't recognize, in bytes, or `nil` for other bodies.
    private var ignoredLength: Int?
    private(set) var hasReachedEnd = false
    private var rejected: RejectedBody?
    /// The declared length of the rejected body, in bytes, or `nil` if it's unknown.
    private var rejectedLength: Int?
    /// The time at which the ignored or rejected body began, in nanoseconds of the monotonic clock.
    private var ignoredBodyTime: Int64 = 0

    /// The time at which the transfer ends although its ignored or rejected body is incomplete, in nanoseconds of the
    /// monotonic clock, or `nil` if it has no such body or its outcome was delivered.
    var ignoredBodyDeadline: Int64? {
        guard rejected != nil || isDiscarding, !submission.promise.isResolved else { return nil }
        return ignoredBodyTime + Self.longestWaitForIgnoredBody
    }

    var id: UInt64 { submission.id }
    var request: TransferRequest { submission.request }
    var hasBytes: Bool { parser.received > 0 || received > 0 }
    var progress: Int { parser.received + received }
    var isHeadComplete: Bool { parser.isComplete }

    init(_ submission: QueuedTransfer) {
        self.submission = submission
        priority = submission.priority
        let transferRequest = submission.transferRequest
        resume = ResumeStateMachine(
            transferRequest.request.resume,
            isForeign: transferRequest.request.resume == nil && transferRequest.request.headers["Range"] != nil)
    }

    /// The group of connections that libcurl can use for the transfer. Connections to a proxy serve all origins.
    var socketGroup: String { proxy == nil ? request.origin : "" }

    /// Returns whether the transfer still uses a connection. libcurl may have started to repeat it on another one.
    func uses(_ connection: Connection) -> Bool {
        guard self.connection === connection, let handle else { return false }
        return connection.session == nil || wi_curl_tls(handle.pointer) == connection.session
    }

    func hasClientCertificate(_ defaultTLS: TLSOptions) -> Bool {
        let tls = request.tls ?? defaultTLS
        guard !tls.clientCertificates.isEmpty, let host = HostName(ofURL: request.url) else { return false }
        return tls.certificate(for: host.text) != nil || proxy?.isSecure == true
    }

    /// Changes the priority. The server of a running HTTP/2 transfer receives it with the next data that libcurl sends.
    func setPriority(_ priority: RequestPriority) {
        guard priority != self.priority else { return }
        self.priority = priority
        charge?.setPriority(priority)
        handle?.set(CURLOPT_STREAM_WEIGHT, priority.streamWeight)
    }

    /// Records that the request is about to be sent over `next` instead of ``connection``. Returns `false` if it must
    /// not be sent. `opened` is the number of connections that were opened so far.
    ///
    /// libcurl repeats requests automatically to respond to a challenge, if the connection ended without a response, and if
    /// the server refused the stream.
    func use(_ next: Connection?, _ state: ConnectionState, opened: Int) -> Bool {
        let isAnswered = parser.received > receivedBefore
        connection = next
        refusal = reasonToRefuse(next, state, isAnswered: isAnswered)
        guard refusal == nil else { return false }
        if !isAnswered, !servesOthers {
            // libcurl repeats a request up to five times if each connection has ended, and none of these repetitions is
            // visible to the retry policy.
            guard sends < (request.mayRepeat ? 2 : 1) else {
                refusal = .sentTooOften
                return false
            }
            sends += 1
            attempt = max(attempt, sends)
        }
        earlier = next
        openedBefore = opened
        receivedBefore = parser.received
        responsesBefore = next?.responses ?? 0
        streamRefusal = nil
        stream = nil
        return true
    }

    private func reasonToRefuse(_ next: Connection?, _ state: ConnectionState, isAnswered: Bool) -> Refusal? {
        let isRepetition = sends > 0 && !isAnswered
        if isRepetition, !isUnprocessed, !request.isRepeatable { return .mayBeProcessed }
        switch state {
        case .usable: break
        case .unusable: return .unusableConnection
        case .opening, .unknown:
            if !needsNewConnection { return state == .opening ? .openingConnection : .unusableConnection }
        }
        guard isRepetition, streamRefusal != WI_STREAM_DOWNGRADED, let next else { return nil }
        // Another idle connection may have ended, too (RFC 9112 9.3.1).
        guard next.number > openedBefore else { return .unsuitableConnection }
        // If a stream made its connection unusable, it would do the same to the streams that are repeated with it.
        if let earlier, !isUnprocessed, earlier.isSuspect, !next.admit(from: earlier) {
            return .unsuitableConnection
        }
        return nil
    }

    /// Whether the earlier connection served other requests. If a server closes a connection after some of its streams
    /// (GOAWAY), it rejects the others, which doesn't count as an attempt.
    private var servesOthers: Bool { earlier.map { $0.isMultiplexed && $0.responses > responsesBefore } ?? false }

    func receive(_ event: wi_stream_event, _ number: Int) {
        switch event {
        case WI_STREAM_BEGAN: stream = number
        case WI_STREAM_REFUSED, WI_STREAM_DOWNGRADED: streamRefusal = event
        case WI_STREAM_GOAWAY:
            // Before libcurl reuses an idle connection, it reads the frames that were received over it. They don't concern
            // the request.
            guard let earlier, let session = earlier.session, let handle, wi_curl_tls(handle.pointer) == session
            else { return }
            earlier.recordGoAway(last: number)
        default: break
        }
    }

    /// Whether the server declared that it hasn't processed the request, so that every request can be repeated (RFC
    /// 9113 8.7).
    var isUnprocessed: Bool {
        if streamRefusal != nil { return true }
        guard let stream, let last = earlier?.lastProcessedStream else { return false }
        return stream > last
    }

    /// Whether a repetition doesn't count as an attempt, because the server ended the connection after other requests.
    var isRepeatedFreely: Bool { isUnprocessed && servesOthers }

    /// Whether the request may be repeated silently, because the server hasn't processed it, or because it reused a
    /// connection that may have ended in the meantime.
    var mayRepeat: Bool {
        guard request.mayRepeat, attempt < 2, !hasBytes, !submission.promise.isResolved else { return false }
        return isUnprocessed || (request.isRepeatable && connection.map { $0.opener != id } ?? false)
    }

    /// `isCounted` indicates whether the restart counts as another attempt.
    func restart(isCounted: Bool, onNewConnection: Bool) {
        needsNewConnection = onNewConnection
        if isCounted { attempt = sends + 1 }
        parser.reset()
        receivedBefore = 0
        refusal = nil
        opened = nil
        tls = nil
        isDone = false
        refusedAddress = nil
    }

    func isTooSlow(at now: Int64) -> Bool {
        !isDiscarding && speed?.isTooSlow(at: now, bytes: received) == true
    }

    /// The time is in nanoseconds of the monotonic clock. It's `nil` if the speed isn't measured.
    var speedDeadline: Int64? { isDiscarding ? nil : speed?.deadline }

    /// Prepares for a challenge of the proxy, to which libcurl responds.
    func awaitProxyChallenge() { parser.awaitsProxyChallenge = true }

    /// Returns `false` to stop the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer, now: Int64) -> Bool {
        lastActivity = now
        switch parser.receive(line) {
        case .more: return true
        case .complete(let head): return begin(head)
        case .tooLarge:
            return stop(.badServerResponse, detail: "the response head exceeds \(ResponseHeadParser.limit) bytes")
        case .tooManyLines:
            return stop(.badServerResponse, detail: "the response head exceeds \(ResponseHeadParser.maxLines) lines")
        case .malformed: return stop(.badServerResponse, detail: "the status line isn't valid")
        }
    }

    /// Returns whether no byte was received for `limit` nanoseconds. A slow transfer isn't idle.
    func isIdle(for limit: Int64, at now: Int64) -> Bool { now >= lastActivity + limit }

    var isPaused: Bool { pauseStart != nil }

    /// Enters the budget for bodies when the transfer starts. A transfer that restarts remains there without a body.
    func enter(_ budget: BodyBudget, wake: @escaping @Sendable () -> Void) {
        if let charge { charge.record(0) } else { charge = budget.enter(priority, wake: wake) }
    }

    /// Ends a pause. Returns `false` if the transfer isn't paused.
    func resume(at now: Int64) -> Bool {
        guard let start = pauseStart else { return false }
        pauseStart = nil
        pausedTime += max(now - start, 0)
        lastActivity = now
        speed?.resume(at: now)
        return true
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer, now: Int64) -> Reception {
        lastActivity = now
        if !isDiscarding, rejected == nil, let charge {
            // Data of a paused HTTP/2 stream blocks the other streams of its connection, so the budget pauses them only
            // as a group.
            let group = connection.flatMap { $0.isMultiplexed ? Int(bitPattern: ObjectIdentifier($0)) : nil }
            switch charge.arrive(group: group) {
            case .receive: break
            case .pause:
                pauseStart = now
                speed?.pause(at: now)
                return .paused
            case .fail:
                stop = .limitExceeded(
                    ImageError.LimitFailure(
                        .overloaded, limit: charge.limit, actual: charge.used, detail: "bytes of bodies in flight"))
                return .stopped
            }
        }
        let continues = process(bytes)
        charge?.record((body?.count ?? 0) + (coded?.count ?? 0))
        return continues ? .received : .stopped
    }

    /// Returns `false` to stop the transfer.
    private func process(_ chunk: UnsafeRawBufferPointer) -> Bool {
        guard let ignoredLength else { return processPart(chunk) }
        // As after other bodies with a length, the bytes after the end are dropped, and the connection isn't reused.
        let part = UnsafeRawBufferPointer(rebasing: chunk.prefix(max(ignoredLength - received, 0)))
        guard processPart(part) else { return false }
        hasReachedEnd = received >= ignoredLength
        return !hasReachedEnd
    }

    /// Returns `false` to stop the transfer.
    private func processPart(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += bytes.count
        if isDiscarding { return received <= Self.mostDiscarded }
        if let rejected {
            rejected.append(bytes)
            return rejected.isComplete ? discard(remaining: rejectedLength) : true
        }
        guard resume.receiveBytes(bytes.count) else {
            return stop(
                .badServerResponse, detail: "the body exceeds the expected \(resume.plan?.total ?? 0) bytes")
        }
        guard resume.position <= request.maxBytes else { return stop(tooLarge: resume.position) }
        guard decode(bytes) else { return false }
        // The receiver of the reports may have rejected the image because of its first bytes. Then the rest isn't
        // needed.
        guard submission.requestsBody, let rejection = submission.context.rejection else { return true }
        stop = rejection
        return false
    }

    private func decode(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard decoder != nil else {
            deliver(bytes)
            return true
        }
        coded?.append(bytes)
        do {
            try decoder?.decode(bytes) { deliver($0) }
            return true
        } catch {
            return stop(error)
        }
    }

    private func begin(_ head: HTTPResponseHead) -> Bool {
        connection?.recordResponse()
        self.head = head
        speed?.start(at: lastActivity)
        responseTime = Date()
        let length = head.bodyLength
        if length == .invalid {
            return stop(.badServerResponse, detail: "the Content-Length isn't valid")
        }
        var expected: Int?
        if case .known(let length) = length { expected = length }
        ignoredLength = head.hasIgnoredLength && hasBody(head) ? expected : nil
        guard accept(head, expected: expected) else { return false }
        // An empty body has no chunk that could end the transfer.
        hasReachedEnd = ignoredLength == 0
        return !hasReachedEnd
    }

    /// Returns `false` to stop the transfer.
    private func accept(_ head: HTTPResponseHead, expected: Int?) -> Bool {
        switch resume.receiveHead(head) {
        case .rest(let whole): return begin(whole, prefix: request.resume?.bytes, expected: resume.plan?.total)
        case .refused(let detail):
            stop = failure(.badServerResponse, phase: .waitingForResponse, detail: detail)
            return false
        case .whole, .other: break
        }
        switch request.disposition(head) {
        case .deliver: return begin(head, prefix: nil, expected: expected)
        case .discard: return discard(remaining: expected)
        case .reject:
            guard hasBody(head), expected != 0 else { return discard(remaining: expected) }
            rejected = RejectedBody(head)
            rejectedLength = expected
            ignoredBodyTime = lastActivity
            return true
        }
    }

    /// Returns whether the rest of the body is worth reading so that the connection can be reused.
    ///
    /// An HTTP/1 exchange ends after the body. Otherwise, the request that follows, such as that of a redirect, would
    /// find the connection busy and open another one. The wait is limited to ``mostDiscarded`` bytes and to
    /// ``longestWaitForIgnoredBody``.
    private func discard(remaining: Int?) -> Bool {
        // Another connection costs less time than a long body.
        let isWorthReading = isReusable && max(remaining ?? 0, received) <= Self.mostDiscarded
        if rejected == nil { ignoredBodyTime = lastActivity }
        isDiscarding = true
        if !isWorthReading || isMultiplexed {
            submission.promise.resolve(.success(makeResponse(isFinished: lastActivity)))
        }
        return isWorthReading
    }

    private var isReusable: Bool {
        guard let head, hasBody(head), !isMultiplexed else { return true }
        // libcurl closes the connection after a body whose length it ignores.
        return ignoredLength == nil && head.isSelfDelimiting && !head.closesConnection
    }

    private func hasBody(_ head: HTTPResponseHead) -> Bool {
        // These responses have no body, regardless of their `Content-Length` (RFC 9112 6.3).
        request.method != "HEAD" && head.statusCode != 204 && head.statusCode != 304
    }

    /// Begins the body of an accepted response. `prefix` is the resume data from an earlier transfer.
    private func begin(_ head: HTTPResponseHead, prefix: Data?, expected: Int?) -> Bool {
        self.head = head
        var expected = expected
        let hasBody = hasBody(head)
        if hasBody, let expected, expected > request.maxBytes { return stop(tooLarge: expected) }
        if hasBody {
            // A 206 response can contain the middle of an encoded body, which no decoder reads without the beginning.
            let isDecoded = request.decodesParts || head.statusCode != 206
            if isDecoded, ContentDecoder.hasTooManyCodings(head.headers) {
                return stop(.corrupt("more than \(ContentDecoder.mostCodings) content codings"))
            }
            decoder = isDecoded ? ContentDecoder(head.headers, limit: request.maxBytes) : nil
            if decoder != nil, resume.plan != nil { coded = ResponseBuffer(expected: expected) }
            if decoder != nil { expected = nil }
            body = ResponseBuffer(expected: expected)
        }
        report(.head(head, expected: hasBody ? expected : 0, isContinued: prefix != nil))
        return prefix?.withUnsafeBytes { decode($0) } ?? true
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) {
        body?.append(bytes)
        guard submission.requestsBody, let part = body?.last(bytes.count), !part.isEmpty else { return }
        report(.body(part))
    }

    private func report(_ event: TransferEvent) {
        if submission.requestsBody, !submission.promise.isResolved { submission.observer(event) }
    }

    /// Returns `nil` if the response is incomplete.
    func finish() -> TransferOutcome? {
        if head == nil, let challenge = parser.unansweredChallenge { head = challenge }
        // libcurl reports success even if the connection ends within the header lines.
        guard head != nil else { return nil }
        guard rejected == nil, !isDiscarding else { return .success(makeResponse(isFinished: lastActivity)) }
        if case .short(let missing) = resume.end() {
            return .failure(
                failure(.connectionLost, phase: .receivingBody, detail: "\(missing) bytes of the range are missing"))
        }
        // libcurl reports success if the connection ends before a length that it ignores.
        if let ignoredLength, received < ignoredLength {
            let detail = "\(ignoredLength - received) bytes of the body are missing"
            return .failure(failure(.connectionLost, phase: .receivingBody, detail: detail))
        }
        do {
            // The body can end within the compressed data although its length is right.
            try decoder?.finish { deliver($0) }
        } catch {
            return .failure(located(error))
        }
        return .success(makeResponse(isFinished: lastActivity))
    }

    /// A response with an ignored or rejected body is the outcome even if the network fails before the body is
    /// complete.
    func ending(with outcome: TransferOutcome) -> TransferOutcome {
        guard rejected != nil || isDiscarding, case .failure(.network) = outcome else { return outcome }
        return .success(makeResponse(isFinished: lastActivity))
    }

    func remainder(after error: ImageError) -> PartialDownload? {
        guard let plan = resume.plan, resume.isWorthKeeping, !isDiscarding, stop == nil, error.leavesUsableBytes,
            let bytes = (decoder == nil ? body : coded)?.data, bytes.count == resume.position
        else { return nil }
        return PartialDownload(plan: plan, bytes: bytes, stored: Date())
    }

    private func makeResponse(isFinished: Int64) -> TransferResponse {
        let head = head ?? HTTPResponseHead(statusCode: 0)
        return TransferResponse(
            head: head, body: body?.data ?? rejected?.data ?? Data(), interim: parser.interim, requestTime: requestTime,
            responseTime: responseTime,
            retryAfter: head.headers["Retry-After"].flatMap { RetryAfter.seconds($0, now: serverTime(head)) },
            metrics: metrics(isFinished), charge: body == nil ? nil : charge,
            isLengthKnown: head.isSelfDelimiting || (isMultiplexed && connection?.isOpen != false))
    }

    /// Returns the time of the server's clock for interpreting dates, or the local time if the response has no `Date`.
    private func serverTime(_ head: HTTPResponseHead) -> Date {
        head.headers["Date"].flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime
    }

    private func metrics(_ finished: Int64) -> NetworkMetrics {
        var metrics = NetworkMetrics()
        metrics.queue = .nanoseconds(started - submission.enqueued)
        metrics.total = .nanoseconds(finished - started)
        metrics.receivedByteCount = received
        metrics.attemptCount = attempt
        metrics.resumedByteCount = resume.isContinued ? request.resume?.bytes.count ?? 0 : 0
        guard let handle else { return metrics }
        metrics.nameLookup = .microseconds(handle.offset(CURLINFO_NAMELOOKUP_TIME_T))
        metrics.connect = .microseconds(handle.offset(CURLINFO_CONNECT_TIME_T))
        metrics.tlsHandshake = .microseconds(handle.offset(CURLINFO_APPCONNECT_TIME_T))
        metrics.firstByte = .microseconds(handle.offset(CURLINFO_STARTTRANSFER_TIME_T))
        metrics.protocolName = isMultiplexed ? "h2" : "http/1.1"
        metrics.isReusedConnection = handle.number(CURLINFO_NUM_CONNECTS) == 0
        return metrics
    }

    var isMultiplexed: Bool { handle?.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) }

    var phase: ImageError.NetworkFailure.Phase {
        if isHeadComplete { return .receivingBody }
        guard let handle else { return .queued }
        if parser.received > 0 || handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0 { return .waitingForResponse }
        return handle.offset(CURLINFO_NAMELOOKUP_TIME_T) > 0 ? .connecting : .nameResolution
    }

    func failure(
        _ reason: ImageError.NetworkFailure.Reason, phase: ImageError.NetworkFailure.Phase? = nil,
        curlCode: Int? = nil, detail: String = ""
    ) -> ImageError {
        let failure = ImageError.NetworkFailure(
            reason, url: request.failureURL, phase: phase ?? self.phase, statusCode: head?.statusCode,
            curlCode: curlCode, attempt: attempt, details: detail)
        return .network(head.map { failure.adding($0) } ?? failure)
    }

    private func stop(_ reason: ImageError.NetworkFailure.Reason, detail: String) -> Bool {
        stop = failure(reason, phase: isHeadComplete ? .receivingBody : .waitingForResponse, detail: detail)
        return false
    }

    private func stop(tooLarge size: Int) -> Bool {
        stop = failure(tooLarge: size)
        return false
    }

    private func failure(tooLarge size: Int) -> ImageError {
        var failure = ImageError.LimitFailure(
            .encodedSize, limit: request.maxBytes, actual: size, detail: request.url)
        // Nothing is stored of the body, so a manager remembers the failure instead.
        failure.freshFor = head.flatMap { Freshness.explicitLifetime(of: $0, now: Date()) }
        return .limitExceeded(failure)
    }

    private func stop(_ error: ContentDecoder.Failure) -> Bool {
        stop = located(error)
        return false
    }

    private func located(_ error: ContentDecoder.Failure) -> ImageError {
        switch error {
        case .corrupt(let detail): failure(.contentDecodingFailed, phase: .receivingBody, detail: detail)
        case .tooLarge(let size): failure(tooLarge: size)
        }
    }
}
