// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The result of a load.
public struct LoadResponse: Sendable {
    /// The response head, or `nil` for sources without one, such as files.
    public var head: ResponseHead?
    /// The body without content codings. It's empty for a 304 response.
    public var body: Data
    /// The URL of the response after redirects.
    public var finalURL: URL
    /// The time at which the request was sent.
    public var requestTime: Date
    /// The time at which the response head was received.
    public var responseTime: Date
    /// The timing and size measurements.
    public var metrics: LoadMetrics
    /// A Boolean value that indicates whether the response specified the end of its body. The default is `true`.
    ///
    /// If it's `false`, the body ended when the connection was closed, so a truncated body can't be detected.
    public var isLengthKnown = true
    /// The redirects that were followed, in order. The ``StoredHead/finalURL`` of each is the URL of the server that
    /// sent the redirect.
    ///
    /// A response that is stored under the first URL is fresh only while the redirects are fresh. See
    /// ``StoredHead/limitFreshness(byRedirects:)``.
    package var redirects: [StoredHead] = []

    /// Creates a response.
    public init(
        head: ResponseHead? = nil, body: Data, finalURL: URL, requestTime: Date, responseTime: Date,
        metrics: LoadMetrics = LoadMetrics()
    ) {
        self.head = head
        self.body = body
        self.finalURL = finalURL
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.metrics = metrics
    }

    /// A Boolean value that indicates whether the response has status 304, which means that the cached response is
    /// still valid.
    public var isNotModified: Bool { head?.status == 304 }
}

/// The measurements of one transfer. Except for ``queued``, the times are in seconds since the transfer left the
/// queue.
public struct LoadMetrics: Sendable, Hashable {
    /// The time in the queue, in seconds.
    public var queued: Double = 0
    /// The time at which the host name was resolved.
    public var resolved: Double = 0
    /// The time at which the connection was established, without TLS.
    public var connected: Double = 0
    /// The time at which the TLS handshake finished, or 0 without TLS.
    public var secured: Double = 0
    /// The time at which the first byte of the response was received.
    public var firstByte: Double = 0
    /// The time at which the last byte was received.
    public var finished: Double = 0
    /// The size of the body as transferred, in bytes.
    public var bytesReceived: Int = 0
    /// The protocol, such as `http/1.1` or `h2`. It's empty for sources other than HTTP.
    public var networkProtocol: String = ""
    /// A Boolean value that indicates whether the transfer reused a connection.
    public var reusedConnection: Bool = false
    /// The number of redirects that were followed.
    public var redirects: Int = 0
    /// The number of body bytes that came from resume data and weren't requested again.
    public var resumedBytes: Int = 0
    /// The number of attempts of this load, including the last one and attempts that couldn't be sent. Redirects don't
    /// count.
    public var attempts: Int = 1
    /// The failures of the earlier attempts, in order.
    public var failures: [NetworkError] = []

    /// Creates metrics in which all values except ``attempts`` are zero or empty.
    public init() {}
}
