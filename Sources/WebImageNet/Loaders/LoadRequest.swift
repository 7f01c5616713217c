// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// A request to a loader.
///
/// Requests are equal if all their properties are equal. Closures in their options are equal only if they're copies.
public struct LoadRequest: Sendable, Hashable {
    /// The URL of the source.
    public var url: URL
    /// The additional header fields, including conditions. They apply only to HTTP.
    public var headers: HTTPHeaderFields
    /// The maximum size of the body in bytes, both encoded and decoded. The loader checks it while it receives data.
    public var maxByteCount: Int
    /// A Boolean value that indicates whether a 304 response is accepted. Set it to `true` if `headers` contains
    /// conditions for a cached response.
    public var acceptsNotModified: Bool
    /// The timeouts, or `nil` for those of the loader.
    public var timeouts: LoadTimeouts?
    /// The retry policy, or `nil` for that of the loader. The default is `nil`.
    public var retry: RetryPolicy?
    /// The URLs to try, in order, if ``url`` finally fails because of the network or a status that isn't accepted.
    ///
    /// Header fields that might contain secrets aren't sent to alternatives with another origin. Alternatives that the
    /// loader can't load are skipped.
    public var alternativeURLs: [URL] = []
    /// The cookies, trust, credentials, and accepted responses that differ from those of the loader. They apply only
    /// to HTTP.
    public var network = NetworkOptions()

    /// Creates a request. By default, the body may have up to 32 MiB.
    public init(
        url: URL, headers: HTTPHeaderFields = HTTPHeaderFields(), maxByteCount: Int = 32 << 20,
        acceptsNotModified: Bool = false,
        timeouts: LoadTimeouts? = nil
    ) {
        self.url = url
        self.headers = headers
        self.maxByteCount = maxByteCount
        self.acceptsNotModified = acceptsNotModified
        self.timeouts = timeouts
    }
}

/// The timeouts of one transfer, in seconds.
public struct LoadTimeouts: Sendable, Hashable {
    /// The timeout for establishing the connection, including TLS. The default is 10 seconds.
    public var connect: Double
    /// The timeout without any received byte, before or during the response. The default is 15 seconds.
    public var idle: Double
    /// The timeout for the entire load, including redirects but not the time in the queue. The default is 60 seconds.
    public var total: Double

    /// Creates timeouts.
    public init(connect: Double = 10, idle: Double = 15, total: Double = 60) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }
}
