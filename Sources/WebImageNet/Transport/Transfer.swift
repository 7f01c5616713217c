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

    /// The reason why a request isn't sent over the connection that libcurl chose.
    enum Refusal {
        /// A connection that received data while it was idle, or that has ended.
        case unusableConnection
        /// A request that was already sent as often as allowed.
        case sentTooOften
    }

    let submission: Submission
    var handle: EasyHandle?
    /// The time at which the transfer left the queue, in nanoseconds of the monotonic clock.
    var started: Int64 = 0
    /// The time of the last received byte or of the start of the wait for one, in nanoseconds of the monotonic clock.
    var lastActivity: Int64 = 0
    var requestTime = Date()
    /// A Boolean value that indicates whether the transfer needs a new connection.
    private(set) var needsNewConnection = false
    /// The number of the current attempt to send the request, starting at 1.
    private(set) var attempt = 1
    /// The number of times that the request was sent.
    private var sends = 0
    /// The number of responses that had begun over the connection when the request was sent.
    private var responsesBefore = 0
    /// The number of bytes in header lines when the request was last sent.
    private var receivedBefore = 0
    /// The proxy, or `nil` for a direct connection.
    var proxy: ProxyAddress?
    /// The last connection that was opened for the transfer, or `nil` if it reuses one.
    var opened: Connection?
    /// The information from the last TLS handshake for the transfer.
    var tls: TLSFacts?
    /// The connection over which the request is sent, or `nil` if it wasn't sent.
    var connection: Connection?
    /// The reason why the request wasn't sent.
    private(set) var refusal: Refusal?
    /// A Boolean value that indicates whether libcurl finished the transfer.
    var isDone = false
    /// The address range that the policy rejected, or `nil` if no address was rejected.
    var refusedAddress: String?
    /// The error with which a callback stopped the transfer.
    private(set) var stop: ImageError?
    private(set) var parser = HeadParser()
    private(set) var received = 0
    private var head: ResponseHead?
    private var responseTime = Date()
    private var body: BodyBuffer?
    private var decoder: ContentDecoder?
    private var resume: ResumeState
    /// The encoded body as received, if it can be resumed.
    private var coded: BodyBuffer?
    /// A Boolean value that indicates whether the exchange is finished and the rest of the body is read only to reuse
    /// the connection.
    private(set) var isDiscarding = false

    var id: UInt64 { submission.id }
    var request: TransferRequest { submission.request }
    var hasBytes: Bool { parser.received > 0 || received > 0 }
    /// The number of bytes received so far.
    var progress: Int { parser.received + received }
    var isHeadComplete: Bool { parser.isComplete }

    init(_ submission: Submission) {
        self.submission = submission
        let order = submission.order
        resume = ResumeState(
            order.request.resume, isForeign: order.request.resume == nil && order.request.fields["Range"] != nil)
    }

    /// Records that the request is about to be sent over `next` instead of ``connection``. Returns `false` if it must
    /// not be sent.
    func use(_ next: Connection?, isUsable: Bool) -> Bool {
        let earlier = connection
        connection = next
        guard isUsable else {
            refusal = .unusableConnection
            return false
        }
        // libcurl repeats requests automatically to respond to a challenge and if the connection was closed without a
        // response. If a server closes a connection after some of its streams (GOAWAY), it rejects the others, which
        // doesn't count as an attempt.
        let isAnswered = parser.received > receivedBefore
        let servesOthers = earlier.map { $0.isMultiplexed && $0.responses > responsesBefore } ?? false
        receivedBefore = parser.received
        responsesBefore = next?.responses ?? 0
        if isAnswered || servesOthers { return true }
        guard sends < (request.mayRepeat ? 2 : 1) else {
            refusal = .sentTooOften
            return false
        }
        sends += 1
        attempt = max(attempt, sends)
        return true
    }

    /// A Boolean value that indicates whether the request may be repeated silently, because it reused a connection
    /// that may have ended in the meantime.
    var mayRepeat: Bool {
        let isSafe = request.method == "GET" || request.method == "HEAD"
        return isSafe && request.mayRepeat && attempt < 2 && !hasBytes && connection.map { $0.opener != id } ?? false
            && !submission.promise.isResolved
    }

    /// Resets the transfer so that it can restart. `isCounted` indicates whether the restart counts as another
    /// attempt.
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

    /// Prepares for a challenge of the proxy, to which libcurl responds.
    func awaitProxyChallenge() { parser.awaitsProxyChallenge = true }

    /// Processes a header line. Returns `false` to stop the transfer.
    func takeHeader(_ line: UnsafeRawBufferPointer, now: Int64) -> Bool {
        lastActivity = now
        switch parser.take(line) {
        case .more: return true
        case .complete(let head): return begin(head)
        case .tooLarge: return stop(.badServerResponse, detail: "the response head exceeds \(HeadParser.limit) bytes")
        case .malformed: return stop(.badServerResponse, detail: "the status line isn't valid")
        }
    }

    /// Returns whether no byte was received for `limit` nanoseconds. A slow transfer isn't idle.
    func isIdle(for limit: Int64, at now: Int64) -> Bool { now >= lastActivity + limit }

    /// Processes a chunk of the body. Returns `false` to stop the transfer.
    func takeBody(_ bytes: UnsafeRawBufferPointer, now: Int64) -> Bool {
        lastActivity = now
        received += bytes.count
        if isDiscarding { return received <= Self.mostDiscarded }
        guard resume.takeBytes(bytes.count) else {
            return stop(
                .badServerResponse, detail: "the body exceeds the expected \(resume.plan?.total ?? 0) bytes")
        }
        guard resume.position <= request.maxBytes else { return stop(tooLarge: resume.position) }
        return decode(bytes)
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

    private func begin(_ head: ResponseHead) -> Bool {
        connection?.noteResponse()
        self.head = head
        responseTime = Date()
        let length = head.bodyLength
        if length == .invalid {
            return stop(.badServerResponse, detail: "the Content-Length isn't valid")
        }
        var expected: Int?
        if case .known(let length) = length { expected = length }
        switch resume.takeHead(head) {
        case .rest(let whole): return begin(whole, prefix: request.resume?.bytes, expected: resume.plan?.total)
        case .refused(let detail):
            stop = failure(.badServerResponse, phase: .head, detail: detail)
            return false
        case .whole, .other: break
        }
        if request.disposition(head) == .discard {
            isDiscarding = true
            submission.promise.resolve(.success(answer(finished: lastActivity)))
            return (expected ?? 0) <= Self.mostDiscarded
        }
        return begin(head, prefix: nil, expected: expected)
    }

    /// Begins the body of an accepted response. `prefix` is the resume data from an earlier transfer.
    private func begin(_ head: ResponseHead, prefix: Data?, expected: Int?) -> Bool {
        self.head = head
        var expected = expected
        let hasBody = request.method != "HEAD" && head.status != 204 && head.status != 304
        if hasBody, let expected, expected > request.maxBytes { return stop(tooLarge: expected) }
        if hasBody {
            let isDecoded = request.decodesParts || head.status != 206
            if isDecoded, ContentDecoder.hasTooManyCodings(head.fields) {
                return stop(.broken("more than \(ContentDecoder.mostCodings) content codings"))
            }
            decoder = isDecoded ? ContentDecoder(head.fields, limit: request.maxBytes) : nil
            if decoder != nil, resume.plan != nil { coded = BodyBuffer(expected: expected) }
            if decoder != nil { expected = nil }
            body = BodyBuffer(expected: expected)
        }
        report(.head(head, expected: hasBody ? expected : 0, isContinued: prefix != nil))
        return prefix?.withUnsafeBytes { decode($0) } ?? true
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) {
        body?.append(bytes)
        guard submission.wantsBody, let part = body?.last(bytes.count), !part.isEmpty else { return }
        report(.body(part))
    }

    private func report(_ event: TransferEvent) {
        if submission.wantsBody, !submission.promise.isResolved { submission.observer(event) }
    }

    /// Returns the outcome after libcurl reports success, or `nil` if the response is incomplete.
    func finish() -> TransferOutcome? {
        if head == nil, let challenge = parser.unansweredChallenge { head = challenge }
        guard head != nil else { return nil }
        if case .short(let missing) = resume.end() {
            return .failure(failure(.connectionLost, phase: .body, detail: "\(missing) bytes of the range are missing"))
        }
        do {
            try decoder?.finish { deliver($0) }
        } catch {
            return .failure(located(error))
        }
        return .success(answer(finished: lastActivity))
    }

    /// Returns the resume data of the body, or `nil` if the body can't be resumed.
    func remainder(after error: ImageError) -> ResumePoint? {
        guard let plan = resume.plan, resume.isWorthKeeping, !isDiscarding, stop == nil, error.leavesUsableBytes,
            let bytes = (decoder == nil ? body : coded)?.data, bytes.count == resume.position
        else { return nil }
        return ResumePoint(plan: plan, bytes: bytes, stored: Date())
    }

    private func answer(finished: Int64) -> TransferAnswer {
        let head = head ?? ResponseHead(status: 0)
        return TransferAnswer(
            head: head, body: body?.data ?? Data(), interim: parser.interim, requestTime: requestTime,
            responseTime: responseTime,
            retryAfter: head.fields["Retry-After"].flatMap { RetryAfter.seconds($0, now: serverTime(head)) },
            metrics: metrics(finished),
            isLengthKnown: head.tellsItsEnd || (isMultiplexed && connection?.isOpen != false))
    }

    /// Returns the time of the server's clock for interpreting dates, or the local time if the response has no `Date`.
    private func serverTime(_ head: ResponseHead) -> Date {
        head.fields["Date"].flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime
    }

    private func metrics(_ finished: Int64) -> LoadMetrics {
        var metrics = LoadMetrics()
        metrics.queued = Double(started - submission.enqueued) / 1e9
        metrics.finished = Double(finished - started) / 1e9
        metrics.bytesReceived = received
        metrics.attempts = attempt
        metrics.resumedBytes = resume.isContinued ? request.resume?.bytes.count ?? 0 : 0
        guard let handle else { return metrics }
        metrics.resolved = Double(handle.offset(CURLINFO_NAMELOOKUP_TIME_T)) / 1e6
        metrics.connected = Double(handle.offset(CURLINFO_CONNECT_TIME_T)) / 1e6
        metrics.secured = Double(handle.offset(CURLINFO_APPCONNECT_TIME_T)) / 1e6
        metrics.firstByte = Double(handle.offset(CURLINFO_STARTTRANSFER_TIME_T)) / 1e6
        metrics.networkProtocol = isMultiplexed ? "h2" : "http/1.1"
        metrics.reusedConnection = handle.number(CURLINFO_NUM_CONNECTS) == 0
        return metrics
    }

    /// A Boolean value that indicates whether the response was received over HTTP/2.
    var isMultiplexed: Bool { handle?.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) }

    /// The current phase of the transfer.
    var phase: NetworkError.Phase {
        if isHeadComplete { return .body }
        guard let handle else { return .queue }
        if parser.received > 0 || handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0 { return .head }
        return handle.offset(CURLINFO_NAMELOOKUP_TIME_T) > 0 ? .connect : .resolve
    }

    /// Returns an error for this transfer.
    func failure(
        _ reason: NetworkError.Reason, phase: NetworkError.Phase? = nil, underlying: Int32? = nil, detail: String = ""
    ) -> ImageError {
        .network(
            NetworkError(
                reason, url: request.url, phase: phase ?? self.phase, status: head?.status, underlying: underlying,
                attempt: attempt, detail: detail))
    }

    private func stop(_ reason: NetworkError.Reason, detail: String) -> Bool {
        stop = failure(reason, phase: isHeadComplete ? .body : .head, detail: detail)
        return false
    }

    private func stop(tooLarge size: Int) -> Bool {
        stop = .limit(LimitError(.encodedBytes, limit: request.maxBytes, actual: size, detail: request.url))
        return false
    }

    private func stop(_ error: ContentDecoder.Failure) -> Bool {
        stop = located(error)
        return false
    }

    private func located(_ error: ContentDecoder.Failure) -> ImageError {
        switch error {
        case .broken(let detail): failure(.contentCodingFailed, phase: .body, detail: detail)
        case .tooLarge(let size):
            .limit(LimitError(.encodedBytes, limit: request.maxBytes, actual: size, detail: request.url))
        }
    }
}
