// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One exchange with a server, for an ``HTTPClient``: no cache, no redirects. Implementations are thread-safe and
/// return promptly with 1001 when the surrounding task is cancelled.
public protocol HTTPTransport: Sendable {
    /// Sends `request` and gives the whole final answer, whatever its status.
    func send(_ request: HTTPTransportRequest) async throws(ImageError) -> HTTPTransportResponse
}

/// What an ``HTTPTransport`` sends.
public struct HTTPTransportRequest: Sendable {
    /// http or https.
    public var url: URL
    /// Any token.
    public var method: String
    /// All fields but Host.
    public var fields: HTTPFields
    /// The body; empty for none.
    public var body: Data
    /// Most bytes of body that are accepted.
    public var maxBytes: Int
    /// Time limits; nil for the transport's own.
    public var timeouts: LoadTimeouts?
    /// How soon it is wanted.
    public var priority: RequestPriority
    /// The live priority, or `nil` if ``priority`` doesn't change while the request runs.
    package var context: LoadContext?
    /// Whom to trust, or `nil` for the transport's own setting.
    package var tls: TLSConfiguration?

    /// Creates a request.
    public init(
        url: URL, method: String, fields: HTTPFields, body: Data = Data(), maxBytes: Int,
        timeouts: LoadTimeouts? = nil, priority: RequestPriority = .normal
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
        self.maxBytes = maxBytes
        self.timeouts = timeouts
        self.priority = priority
    }
}

/// What an ``HTTPTransport`` got.
public struct HTTPTransportResponse: Sendable {
    /// The final answer's head.
    public var head: ResponseHead
    /// The whole body, without content codings that are known.
    public var body: Data
    /// Interim answers (1xx), in order.
    public var interim: [ResponseHead]
    /// When the request was sent.
    public var requestTime: Date
    /// When the final head came.
    public var responseTime: Date
    /// Times and sizes.
    public var metrics: LoadMetrics

    /// Creates an answer.
    public init(
        head: ResponseHead, body: Data = Data(), interim: [ResponseHead] = [], requestTime: Date, responseTime: Date,
        metrics: LoadMetrics = LoadMetrics()
    ) {
        self.head = head
        self.body = body
        self.interim = interim
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.metrics = metrics
    }
}
