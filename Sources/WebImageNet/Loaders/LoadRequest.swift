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
    ///
    /// The default is 32 MiB.
    public var maxByteCount = 32 << 20
    /// A Boolean value that indicates whether a 304 response is accepted. Set it to `true` if `headers` contains
    /// conditions for a cached response. The default is `false`.
    public var acceptsNotModified = false
    /// The timeouts, retries, alternative URLs, cookies, trust, credentials, and accepted responses that differ from
    /// those of the loader. They apply only to HTTP.
    public var network = NetworkOptions()

    /// Creates a request.
    public init(url: URL, headers: HTTPHeaderFields = HTTPHeaderFields()) {
        self.url = url
        self.headers = headers
    }

    /// Creates a request with a size limit.
    package init(
        url: URL, headers: HTTPHeaderFields = HTTPHeaderFields(), maxByteCount: Int, acceptsNotModified: Bool = false
    ) {
        self.url = url
        self.headers = headers
        self.maxByteCount = maxByteCount
        self.acceptsNotModified = acceptsNotModified
    }
}
