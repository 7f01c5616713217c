// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One HTTP exchange for the transport: no redirects, no retries but the one for a kept connection that was lost.
struct TransferRequest: Sendable {
    /// Takes what came of a body that can be continued.
    typealias Keep = @Sendable (ResumePoint, TransferRequest) -> Void

    /// What becomes of the body.
    enum Disposition: Sendable {
        /// It is reported, collected and limited.
        case deliver
        /// It is of no interest: the exchange counts as done with the head.
        case discard
    }

    /// http or https, ASCII, without fragment.
    var url: String
    /// Scheme, host and port: transfers of one origin share its places.
    var origin: String
    /// `GET` unless told otherwise.
    var method = "GET"
    /// All fields to send; Host is libcurl's.
    var fields = HTTPFields()
    /// The body to send.
    var body = Data()
    /// Whether content codings of partial answers (206) are removed; parts of a coded body are no coded bodies.
    var decodesParts = true
    /// Most bytes of body, coded or decoded.
    var maxBytes = 32 << 20
    /// Time limits; `total` is what is left for this exchange.
    var timeouts = LoadTimeouts()
    /// A Boolean value that indicates whether a request that was lost with a kept connection is sent once more.
    var mayRepeat = true
    /// Whom to trust; nil for the downloader's.
    var tls: TLSConfiguration?
    /// Asked once, with the final answer's head, on the network thread.
    var disposition: @Sendable (ResponseHead) -> Disposition = { _ in .deliver }
    /// What the request's Range asks to continue.
    var resume: ResumePoint?
    /// Takes what came of a body that was lost or cancelled and can be continued, on the network thread.
    var keep: Keep?
    /// The URL that the caller of the load asked for; nil where nothing is kept.
    var source: URL?
}

/// A request on its way: an object, so that thousands of waiting tasks hold no copies.
final class TransferOrder: Sendable {
    let request: TransferRequest

    init(_ request: TransferRequest) { self.request = request }

    /// This order, changed.
    func with(_ change: (inout TransferRequest) -> Void) -> TransferOrder {
        var request = request
        change(&request)
        return TransferOrder(request)
    }
}

/// What a transfer reports, in order, on the network thread.
enum TransferEvent: Sendable {
    /// It was enqueued and can't start yet.
    case waiting(WaitReason)
    case started
    /// `isContinued` where the body begins with bytes of an earlier transfer.
    case head(ResponseHead, expected: Int?, isContinued: Bool)
    case body(Data)
}

/// A whole answer: an object, which goes from the network thread to the task without copies.
final class TransferAnswer: Sendable {
    let head: ResponseHead
    let body: Data
    /// Interim answers (1xx) before it.
    let interim: [ResponseHead]
    let requestTime: Date
    let responseTime: Date
    /// Seconds of Retry-After, nil where there is none.
    let retryAfter: Double?
    let metrics: LoadMetrics
    /// False where only the end of the connection told the end of the body.
    let isLengthKnown: Bool

    init(
        head: ResponseHead, body: Data, interim: [ResponseHead] = [], requestTime: Date, responseTime: Date,
        retryAfter: Double? = nil, metrics: LoadMetrics, isLengthKnown: Bool = true
    ) {
        self.head = head
        self.body = body
        self.interim = interim
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.retryAfter = retryAfter
        self.metrics = metrics
        self.isLengthKnown = isLengthKnown
    }
}

typealias TransferOutcome = Result<TransferAnswer, ImageError>
