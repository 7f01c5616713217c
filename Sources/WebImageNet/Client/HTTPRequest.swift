// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// A request for an ``HTTPClient``.
public struct HTTPRequest: Sendable {
    /// The handling of redirects (Fetch 2.2.5).
    public enum RedirectMode: String, Sendable, Hashable, Codable, CaseIterable {
        /// A mode that follows redirects according to the rules of ``HTTPClientConfiguration``. This is the default.
        case follow
        /// A mode that returns redirects as responses.
        case manual
        /// A mode in which redirects fail with error 2009.
        case error
    }

    /// The URL, with the scheme `http` or `https`.
    public var url: URL
    /// The method, which is any token. The default is `GET`.
    public var method: String
    /// The header fields, which are sent in this order and can be repeated. The values are Latin-1 text.
    public var fields: HTTPFields
    /// The body, which is empty by default.
    public var body: Data
    /// The cache mode. The default follows RFC 9111.
    public var cacheMode: HTTPCacheMode
    /// The handling of redirects. By default, they're followed.
    public var redirectMode: RedirectMode
    /// The priority of the request. The default is normal.
    public var priority = RequestPriority.normal
    /// The timeouts, or `nil` for those of the client. The default is `nil`.
    public var timeouts: LoadTimeouts?
    /// The maximum size of the body in bytes, or `nil` for the limit of the client.
    public var maxBytes: Int?
    /// The cookies, TLS configuration, credentials, and redirect policy that differ from those of the client.
    ///
    /// Accepted statuses and content types have no effect because the client returns every final status as a response.
    public var network = NetworkOptions()
    /// The policy for retries after network failures.
    ///
    /// The client retries only idempotent requests (RFC 9110 9.2.2), and it doesn't retry based on the status. The
    /// default is `nil`, which means the policy of the client.
    public var retry: RetryPolicy?
    /// A Boolean value that indicates whether the client, not the caller, sets `Accept-Encoding`.
    var hasOwnCodings = false
    /// The current step of the exchange, which is set while the client follows redirects and challenges.
    var step: ExchangeStep?

    /// Creates a request.
    public init(
        _ url: URL, method: String = "GET", fields: HTTPFields = HTTPFields(), body: Data = Data(),
        cacheMode: HTTPCacheMode = .default, redirectMode: RedirectMode = .follow
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
        self.cacheMode = cacheMode
        self.redirectMode = redirectMode
    }

    /// The request head, on which the cache bases its decisions.
    var head: RequestHead { RequestHead(method: method, fields: fields) }
}

/// The response to an ``HTTPRequest``. Any final status is a response, including server errors.
public struct HTTPResponse: Sendable {
    /// The source of a response.
    public enum Source: String, Sendable, Hashable, Codable {
        /// The server.
        case network
        /// The cache, without a request to the server. A 504 response that the cache generates also has this source.
        case cache
        /// The cache, after revalidation by the server.
        case revalidated
        /// The cache, with a stale response. Either the request accepts it, the client revalidates it in the
        /// background, or the server failed.
        case stale
    }

    /// The three-digit status code.
    public var status: Int
    /// The header fields in the order in which they were received, including repeated ones. The values are Latin-1
    /// text. Cached responses have a current `Age`.
    public var fields: HTTPFields
    /// The body without the content codings that this library supports. Unknown codings are passed through.
    public var body: Data
    /// The source of the response.
    public var source: Source
    /// The interim responses (1xx) that preceded this response.
    public var interim: [ResponseHead]
    /// The URL of the response after redirects.
    public var url: URL
    /// The timing and size measurements. They're all zero for responses from the cache alone.
    public var metrics: LoadMetrics

    /// Creates a response.
    public init(
        status: Int, fields: HTTPFields = HTTPFields(), body: Data = Data(), source: Source = .network,
        interim: [ResponseHead] = [], url: URL, metrics: LoadMetrics = LoadMetrics()
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        self.source = source
        self.interim = interim
        self.url = url
        self.metrics = metrics
    }

    /// The age of the response in seconds according to the `Age` header field, or `nil` if the header field is absent.
    public var age: Int? { fields["Age"].flatMap { Int($0) } }
    var head: ResponseHead { ResponseHead(status: status, fields: fields) }
}
