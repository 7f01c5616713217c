// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One HTTP exchange for the transport, without redirects and retries. Only a request over a reused connection that
/// was interrupted, and a request that the server declares unprocessed, are repeated, over a new connection.
package struct TransferRequest: Sendable {
    /// A closure that receives the resume data of a body.
    typealias Keep = @Sendable (PartialDownload, TransferRequest) -> Void

    /// The handling of a response body.
    enum Disposition: Sendable {
        /// A mode in which the transfer reports the body, collects it, and enforces the size limit.
        case deliver
        /// A mode that ignores the body. The exchange is complete after the head.
        case discard
        /// A mode that collects the beginning of the body for an error and ignores the rest.
        case reject
    }

    /// The URL with the scheme `http` or `https`, in ASCII and without a fragment.
    package var url: String
    /// The scheme, host, and port. Transfers of the same origin share its slots.
    package var origin: String
    /// The method. The default is `GET`.
    package var method = "GET"
    /// All header fields to send except `Host`, which libcurl adds.
    package var headers = HTTPHeaderFields()
    /// The body to send.
    package var body = Data()
    /// Whether the content codings of partial responses (206) are removed. Part of an encoded body can't be decoded on
    /// its own.
    package var decodesParts = true
    /// The maximum size of the body in bytes, both encoded and decoded.
    package var maxBytes = 32 << 20
    /// The timeouts. `total` is the remaining time for this exchange.
    package var timeouts = LoadTimeouts()
    /// The total timeout of the load in seconds, of which redirects and earlier attempts have used a part, or `nil` if
    /// it's that of ``timeouts``.
    var wholeTimeout: Double?
    /// Whether to send the request again if a reused connection was interrupted or the server declares that it hasn't
    /// processed the request.
    var mayRepeat = true
    /// Whether the server may process the request twice although its method isn't idempotent.
    var allowsProcessingTwice = false
    /// The TLS configuration, or `nil` for that of the downloader.
    package var tls: TLSOptions?
    /// The credentials with which libcurl signs the request, or `nil` for an unsigned request.
    package var awsSignature: AWSSignature?
    /// A closure that returns the handling of the body. It's called once on the network thread with the final response
    /// head.
    var disposition: @Sendable (HTTPResponseHead) -> Disposition = { _ in .deliver }
    var resume: PartialDownload?
    /// A closure that receives resume data if the transfer is interrupted or canceled. It's called on the network
    /// thread.
    var keep: Keep?
    /// The URL of the caller's load, or `nil` if no resume data is stored.
    var source: URL?

    /// Creates a request for a URL that passed the checks of ``ExchangeStep``.
    package init(url: String, origin: String) {
        self.url = url
        self.origin = origin
    }

    /// Whether the server may process the request twice (RFC 9110 9.2.2).
    var isRepeatable: Bool { allowsProcessingTwice || LoadRequest.idempotentMethods.contains(method) }

    /// The URL for errors.
    package var failureURL: URL { URL(string: url) ?? source ?? URL(filePath: url) }
}

/// An object with a submitted request, so thousands of waiting tasks don't each hold a copy.
final class TransferRequestBox: Sendable {
    let request: TransferRequest

    init(_ request: TransferRequest) { self.request = request }

    func with(_ change: (inout TransferRequest) -> Void) -> TransferRequestBox {
        var request = request
        change(&request)
        return TransferRequestBox(request)
    }
}

/// The events of a transfer, in order, on the network thread.
enum TransferEvent: Sendable {
    case waiting(WaitReason)
    case started
    /// The final response head. `isContinued` is `true` if the body begins with resume data.
    case head(HTTPResponseHead, expected: Int?, isContinued: Bool)
    case body(Data)
}

/// An object with a complete response, which is passed from the network thread to the task without copies.
package final class TransferResponse: Sendable {
    package let head: HTTPResponseHead
    /// The body without known content codings.
    package let body: Data
    /// The interim responses (1xx) that preceded the final response.
    package let interim: [HTTPResponseHead]
    package let requestTime: Date
    package let responseTime: Date
    /// The `Retry-After` period in seconds, or `nil` if there is none.
    let retryAfter: Double?
    package let metrics: NetworkMetrics
    /// Whether the end of the body was specified. It's `false` if only the end of the connection marked it.
    let isLengthKnown: Bool
    let charge: BodyCharge?

    init(
        head: HTTPResponseHead, body: Data, interim: [HTTPResponseHead], requestTime: Date, responseTime: Date,
        retryAfter: Double?, metrics: NetworkMetrics, charge: BodyCharge?, isLengthKnown: Bool
    ) {
        self.charge = charge
        self.head = head
        self.body = body
        self.interim = interim
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.retryAfter = retryAfter
        self.metrics = metrics
        self.isLengthKnown = isLengthKnown
    }

    /// Creates a response of another transport than libcurl.
    package convenience init(head: HTTPResponseHead, body: Data = Data(), requestTime: Date, responseTime: Date) {
        self.init(
            head: head, body: body, interim: [], requestTime: requestTime, responseTime: responseTime,
            retryAfter: nil, metrics: NetworkMetrics(), charge: nil, isLengthKnown: true)
    }

    /// Returns this response with other times or measurements.
    package func with(
        requestTime: Date? = nil, responseTime: Date? = nil, metrics: NetworkMetrics? = nil
    ) -> TransferResponse {
        TransferResponse(
            head: head, body: body, interim: interim, requestTime: requestTime ?? self.requestTime,
            responseTime: responseTime ?? self.responseTime, retryAfter: retryAfter, metrics: metrics ?? self.metrics,
            charge: charge, isLengthKnown: isLengthKnown)
    }
}

typealias TransferOutcome = Result<TransferResponse, ImageError>
