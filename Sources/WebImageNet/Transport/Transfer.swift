// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// One exchange on the network thread: takes what libcurl's callbacks bring and knows how far it is.
/// Belongs to the network thread.
final class Transfer {
    /// Bytes of an uninteresting body that are read for the sake of keeping the connection.
    static let mostDiscarded = 64 << 10

    /// Why a request isn't sent over the connection that libcurl chose.
    enum Refusal {
        /// Bytes came while the connection was idle, or it ended.
        case unusableConnection
        /// It was sent as often as it may be.
        case sentTooOften
    }

    let submission: Submission
    var handle: EasyHandle?
    /// When it left the queue, in nanoseconds of the monotonic clock.
    var started: Int64 = 0
    /// When the last byte came, or when the wait for one began.
    var lastActivity: Int64 = 0
    var requestTime = Date()
    /// A Boolean value that indicates whether it needs a new connection.
    private(set) var needsNewConnection = false
    /// The number of the attempt to send the request, counted from 1.
    private(set) var attempt = 1
    /// How often the request was sent.
    private var sends = 0
    /// Responses that had begun over the connection when the request was sent.
    private var responsesBefore = 0
    /// Bytes of header lines when the request was sent last.
    private var receivedBefore = 0
    /// The proxy it goes through; nil for none.
    var proxy: ProxyAddress?
    /// The last connection that was opened for it; `nil` if it uses a kept connection.
    var opened: Connection?
    /// What the last TLS handshake for it showed.
    var tls: TLSFacts?
    /// The connection that its request goes over; `nil` if none was sent.
    var connection: Connection?
    /// The reason that the request wasn't sent.
    private(set) var refusal: Refusal?
    /// A Boolean value that indicates whether libcurl is done with it.
    var isDone = false
    /// Set where the address policy refused a connection.
    var refusedAddress: String?
    /// Why a callback stopped the transfer.
    private(set) var stop: ImageError?
    private(set) var parser = HeadParser()
    private(set) var received = 0
    private var head: ResponseHead?
    private var responseTime = Date()
    private var body: BodyBuffer?
    private var decoder: ContentDecoder?
    private var resume: ResumeState
    /// The body as it came where it is coded and can be continued.
    private var coded: BodyBuffer?
    /// Whether the exchange is done for its owner, and the rest is read for the connection's sake.
    private(set) var isDiscarding = false

    var id: UInt64 { submission.id }
    var request: TransferRequest { submission.request }
    var hasBytes: Bool { parser.received > 0 || received > 0 }
    /// Bytes that came so far.
    var progress: Int { parser.received + received }
    var isHeadComplete: Bool { parser.isComplete }

    init(_ submission: Submission) {
        self.submission = submission
        let order = submission.order
        resume = ResumeState(
            order.request.resume, isForeign: order.request.resume == nil && order.request.fields["Range"] != nil)
    }

    /// Notes that the request is about to go over `next` instead of ``connection``. Returns `false` if it may not.
    func use(_ next: Connection?, isUsable: Bool) -> Bool {
        let earlier = connection
        connection = next
        guard isUsable else {
            refusal = .unusableConnection
            return false
        }
        // libcurl sends again by itself: to answer a challenge, and if the connection was lost without a response. A
        // server that ends a connection after some of its streams (GOAWAY) refuses the others, which costs no attempt.
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

    /// A Boolean value that indicates whether the request may be sent again without notice, because it went over a
    /// connection that had been opened for another one and can have ended meanwhile.
    var mayRepeat: Bool {
        let isSafe = request.method == "GET" || request.method == "HEAD"
        return isSafe && request.mayRepeat && attempt < 2 && !hasBytes && connection.map { $0.opener != id } ?? false
            && !submission.promise.isResolved
    }

    /// Forgets what came, because the transfer starts again. `isCounted` if that is another attempt.
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

    /// The proxy will ask for a user, and libcurl answer it.
    func awaitProxyChallenge() { parser.awaitsProxyChallenge = true }

    /// One header line. False stops the transfer.
    func takeHeader(_ line: UnsafeRawBufferPointer, now: Int64) -> Bool {
        lastActivity = now
        switch parser.take(line) {
        case .more: return true
        case .complete(let head): return begin(head)
        case .tooLarge: return stop(.badServerResponse, detail: "more than \(HeadParser.limit) bytes of header")
        case .malformed: return stop(.badServerResponse, detail: "no valid status line")
        }
    }

    /// Whether nothing came for `limit` nanoseconds; slow is not idle.
    func isIdle(for limit: Int64, at now: Int64) -> Bool { now >= lastActivity + limit }

    /// A part of the body. False stops the transfer.
    func takeBody(_ bytes: UnsafeRawBufferPointer, now: Int64) -> Bool {
        lastActivity = now
        received += bytes.count
        if isDiscarding { return received <= Self.mostDiscarded }
        guard resume.takeBytes(bytes.count) else {
            return stop(.badServerResponse, detail: "more than the \(resume.plan?.total ?? 0) bytes of the whole")
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
            return stop(.badServerResponse, detail: "no valid Content-Length")
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

    /// The body of an accepted answer begins; `prefix` is what an earlier transfer brought of it.
    private func begin(_ head: ResponseHead, prefix: Data?, expected: Int?) -> Bool {
        self.head = head
        var expected = expected
        let hasBody = request.method != "HEAD" && head.status != 204 && head.status != 304
        if hasBody, let expected, expected > request.maxBytes { return stop(tooLarge: expected) }
        if hasBody {
            let isDecoded = request.decodesParts || head.status != 206
            if isDecoded, ContentDecoder.hasTooManyCodings(head.fields) {
                return stop(.broken("more than \(ContentDecoder.mostCodings) codings"))
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

    /// What the transfer came to when libcurl says it is whole; nil where it is not.
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

    /// What came of a body that can be continued; nil where it cannot.
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

    /// A date counts from the server's own clock where it tells it.
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

    /// Whether the answer came over HTTP/2.
    var isMultiplexed: Bool { handle?.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) }

    /// Where the transfer is.
    var phase: NetworkError.Phase {
        if isHeadComplete { return .body }
        guard let handle else { return .queue }
        if parser.received > 0 || handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0 { return .head }
        return handle.offset(CURLINFO_NAMELOOKUP_TIME_T) > 0 ? .connect : .resolve
    }

    /// An error of this transfer.
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
