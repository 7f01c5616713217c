// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// What a loader got.
public struct LoadResponse: Sendable {
    /// The answer's head; nil for sources without one (files, data URLs).
    public var head: ResponseHead?
    /// The body without content coding; empty for a 304.
    public var body: Data
    /// The URL that answered, after redirects.
    public var finalURL: URL
    /// When the request was sent.
    public var requestTime: Date
    /// When the answer's head came.
    public var responseTime: Date
    /// Times and sizes.
    public var metrics: LoadMetrics
    /// Whether the answer told where its body ends. False where only the end of the connection did: such a body
    /// cannot be told from one that was cut. Default true.
    public var isLengthKnown = true
    /// The redirects that were followed, in order. ``finalURL`` of each is the URL that redirected.
    ///
    /// What is stored under the first URL is fresh only as long as they are:
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

    /// True for a 304: the stored copy is still right.
    public var isNotModified: Bool { head?.status == 304 }
}

/// Times (in seconds since the transfer left the queue) and sizes of one transfer.
public struct LoadMetrics: Sendable, Hashable {
    /// Seconds in the queue before it.
    public var queued: Double = 0
    /// Name resolved.
    public var resolved: Double = 0
    /// Connection stands, TLS not included.
    public var connected: Double = 0
    /// TLS stands; 0 without TLS.
    public var secured: Double = 0
    /// First byte of the answer.
    public var firstByte: Double = 0
    /// All bytes.
    public var finished: Double = 0
    /// Bytes of body on the wire.
    public var bytesReceived: Int = 0
    /// `http/1.1`, `h2`; empty for other sources.
    public var networkProtocol: String = ""
    /// Whether a kept connection served.
    public var reusedConnection: Bool = false
    /// Redirects followed.
    public var redirects: Int = 0
    /// Bytes of body that an earlier, lost transfer had brought and that were not asked for again.
    public var resumedBytes: Int = 0
    /// Requests of this load that were sent or could not be, this one included; redirects do not count.
    public var attempts: Int = 1
    /// Why the attempts before this one failed, in order.
    public var failures: [NetworkError] = []

    /// All zero.
    public init() {}
}
