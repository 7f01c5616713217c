// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The result of a load.
public struct LoadResponse: Sendable {
    /// The values that few callers read. They're in an object because a response is copied many times on its way.
    private struct Details: Sendable {
        var requestDate: Date
        var responseDate: Date
        var metrics: NetworkMetrics
        var hasKnownLength = true
        var redirects: [StoredResponseHead] = []
        var charge: BodyCharge?
    }

    /// The response head, or `nil` for sources without one, such as files.
    public var httpResponse: HTTPResponseHead?
    /// The body without content codings. It's empty for a 304 response.
    public var body: Data
    /// The URL of the response after redirects.
    public var url: URL
    private var details: CopyOnWrite<Details>

    /// The time at which the request was sent.
    public var requestDate: Date {
        get { details.value.requestDate }
        set { details.value.requestDate = newValue }
    }

    /// The time at which the response head was received.
    public var responseDate: Date {
        get { details.value.responseDate }
        set { details.value.responseDate = newValue }
    }

    /// The timing and size measurements.
    public var metrics: NetworkMetrics {
        get { details.value.metrics }
        set { details.value.metrics = newValue }
    }

    /// A Boolean value that indicates whether the response specified the end of its body. The default is `true`.
    ///
    /// If it's `false`, the body ended when the connection was closed, so a truncated body can't be detected.
    public var hasKnownLength: Bool {
        get { details.value.hasKnownLength }
        set { details.value.hasKnownLength = newValue }
    }

    /// The redirects that were followed, in order. The ``StoredResponseHead/finalURL`` of each is the URL of the server
    /// that sent the redirect.
    ///
    /// A response that is stored under the first URL is fresh only while the redirects are fresh. See
    /// ``StoredResponseHead/limitFreshness(byRedirects:)``.
    package var redirects: [StoredResponseHead] {
        get { details.value.redirects }
        set { details.value.redirects = newValue }
    }

    /// The part of the budget for bodies that ``body`` uses, or `nil` if it doesn't count.
    package var charge: BodyCharge? {
        get { details.value.charge }
        set { details.value.charge = newValue }
    }

    /// Creates a response.
    ///
    /// Both dates are the current time, and the metrics are empty.
    ///
    /// - Parameters:
    ///   - httpResponse: The response head, or `nil` for sources other than HTTP.
    ///   - body: The body without content codings.
    ///   - url: The URL of the response after redirects.
    public init(httpResponse: HTTPResponseHead? = nil, body: Data, url: URL) {
        let now = Date()
        self.init(httpResponse: httpResponse, body: body, url: url, requestDate: now, responseDate: now)
    }

    /// Creates a response.
    package init(
        httpResponse: HTTPResponseHead? = nil, body: Data, url: URL, requestDate: Date, responseDate: Date,
        metrics: NetworkMetrics = NetworkMetrics(), hasKnownLength: Bool = true, redirects: [StoredResponseHead] = []
    ) {
        self.httpResponse = httpResponse
        self.body = body
        self.url = url
        details = CopyOnWrite(
            Details(
                requestDate: requestDate, responseDate: responseDate, metrics: metrics, hasKnownLength: hasKnownLength,
                redirects: redirects))
    }

    /// Whether the response has status 304, which means that the cached response is still valid.
    package var isNotModified: Bool { httpResponse?.statusCode == 304 }
}

/// The measurements of one transfer. Except for ``queue``, the times count from the moment at which the transfer left
/// the queue.
public struct NetworkMetrics: Sendable, Hashable {
    /// The time in the queue.
    public var queue = Duration.zero
    /// The time at which the host name was resolved.
    public var nameLookup = Duration.zero
    /// The time at which the connection was established, without TLS.
    public var connect = Duration.zero
    /// The time at which the TLS handshake finished, or zero without TLS.
    public var tlsHandshake = Duration.zero
    /// The time at which the first byte of the response was received.
    public var firstByte = Duration.zero
    /// The time at which the last byte was received.
    public var total = Duration.zero
    /// The size of the body as transferred, in bytes.
    public var receivedByteCount: Int = 0
    /// The protocol, such as `http/1.1` or `h2`. It's empty for sources other than HTTP.
    public var protocolName: String = ""
    /// A Boolean value that indicates whether the transfer reused a connection.
    public var isReusedConnection: Bool = false
    /// The number of redirects that were followed.
    public var redirectCount: Int = 0
    /// The number of body bytes that came from resume data and weren't requested again.
    public var resumedByteCount: Int = 0
    /// The number of attempts of this load, including the last one and attempts that couldn't be sent. Redirects don't
    /// count.
    public var attemptCount: Int = 1
    /// The failures of the earlier attempts, in order.
    package var failures: [ImageError.NetworkFailure] = []

    /// Creates metrics in which all values except ``attemptCount`` are zero or empty.
    package init() {}
}
