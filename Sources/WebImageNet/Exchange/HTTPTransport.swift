// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// A type that performs single HTTP exchanges for an `HTTPClient`, without a cache and redirects.
///
/// Implementations must be thread-safe. If the surrounding task is canceled, they must return promptly with
/// ``ImageError/cancelled``.
package protocol HTTPTransport: Sendable {
    /// Sends a request and returns the complete final response, regardless of its status.
    func send(_ request: HTTPTransportRequest) async throws(ImageError) -> HTTPTransportResponse
}

/// A request for an ``HTTPTransport``.
package struct HTTPTransportRequest: Sendable {
    /// The URL, with the scheme `http` or `https`.
    package var url: URL
    /// The method, which is any token.
    package var method: String
    /// All header fields except `Host`.
    package var headers: HTTPHeaderFields
    /// The body, which can be empty.
    package var body: Data
    /// The maximum size of the response body, in bytes.
    package var maxBodySize: Int
    /// The timeouts, or `nil` for those of the transport.
    package var timeouts: LoadTimeouts?
    /// The priority of the request.
    package var priority: RequestPriority
    /// The context with the live priority, or `nil` if ``priority`` doesn't change while the request runs.
    package var context: LoadContext?
    /// The TLS configuration, or `nil` for that of the transport.
    package var tls: TLSOptions?
    /// The credentials with which the request is signed, or `nil` for an unsigned request.
    package var awsSignature: AWSSignature?

    /// Creates a request.
    package init(
        url: URL, method: String, headers: HTTPHeaderFields, body: Data = Data(), maxBodySize: Int,
        timeouts: LoadTimeouts? = nil, priority: RequestPriority = .normal
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.maxBodySize = maxBodySize
        self.timeouts = timeouts
        self.priority = priority
    }
}

/// The response from an ``HTTPTransport``.
package struct HTTPTransportResponse: Sendable {
    /// The head of the final response.
    package var head: HTTPResponseHead
    /// The complete body, without known content codings.
    package var body: Data
    /// The interim responses (1xx), in order.
    package var interim: [HTTPResponseHead]
    /// The time at which the request was sent.
    package var requestTime: Date
    /// The time at which the final response head was received.
    package var responseTime: Date
    /// The timing and size measurements.
    package var metrics: NetworkMetrics

    /// Creates a response.
    package init(
        head: HTTPResponseHead, body: Data = Data(), interim: [HTTPResponseHead] = [], requestTime: Date,
        responseTime: Date,
        metrics: NetworkMetrics = NetworkMetrics()
    ) {
        self.head = head
        self.body = body
        self.interim = interim
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.metrics = metrics
    }
}
