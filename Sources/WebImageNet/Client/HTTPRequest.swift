// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// An HTTP request for an ``HTTPClient``. A value.
public struct HTTPRequest: Sendable {
    /// What becomes of redirects (Fetch 2.2.5).
    public enum RedirectMode: String, Sendable, Hashable, Codable, CaseIterable {
        /// They are followed, under the rules of ``HTTPClientConfiguration``. The default.
        case follow
        /// They are the answer.
        case manual
        /// They are the error 2009.
        case error
    }

    /// http or https.
    public var url: URL
    /// Any token. Default GET.
    public var method: String
    /// Sent in this order, repeats kept; values are Latin-1.
    public var fields: HTTPFields
    /// The body; empty for none.
    public var body: Data
    /// How the cache is used. Default as RFC 9111 says.
    public var cacheMode: HTTPCacheMode
    /// What becomes of redirects. Default followed.
    public var redirectMode: RedirectMode
    /// How soon it is wanted. Default normal.
    public var priority = RequestPriority.normal
    /// Time limits that differ from the client's. Default nil.
    public var timeouts: LoadTimeouts?
    /// Most bytes of body that are accepted; nil for the client's limit.
    public var maxBytes: Int?
    /// The cookies, TLS configuration, credentials, and redirect policy that differ from those of the client.
    ///
    /// Accepted statuses and content types have no effect because the client returns every final status as a response.
    public var network = NetworkOptions()
    /// The policy for retries after a failure of the network.
    ///
    /// The client retries only requests that can be sent twice (RFC 9110 9.2.2), and it retries no status. The default
    /// is `nil`, which means the policy of the client.
    public var retry: RetryPolicy?
    /// Whether Accept-Encoding is the client's and not the caller's.
    var hasOwnCodings = false
    /// The step of an exchange that this request is, set while it is followed.
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

    /// What the cache judges by.
    var head: RequestHead { RequestHead(method: method, fields: fields) }
}

/// The answer to an ``HTTPRequest``. Every final status is an answer, errors of the server too.
public struct HTTPResponse: Sendable {
    /// Where an answer comes from.
    public enum Source: String, Sendable, Hashable, Codable {
        /// The server.
        case network
        /// The cache; the server was not asked. Also a 504 that the cache makes itself.
        case cache
        /// The cache, confirmed by the server.
        case revalidated
        /// The cache, past its freshness: accepted by the request, revalidated behind, or in place of a failure.
        case stale
    }

    /// Three digits.
    public var status: Int
    /// In the order they came, repeats kept; values are Latin-1. Answers of the cache have a present Age.
    public var fields: HTTPFields
    /// Without the content codings this library knows; others are passed on.
    public var body: Data
    /// Where it comes from.
    public var source: Source
    /// Interim answers (1xx) before it.
    public var interim: [ResponseHead]
    /// The URL that answered, after redirects.
    public var url: URL
    /// Times and sizes; all zero for answers of the cache alone.
    public var metrics: LoadMetrics

    /// Creates an answer.
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

    /// Seconds since the origin made it, as the Age field says; nil where it says nothing.
    public var age: Int? { fields["Age"].flatMap { Int($0) } }
    /// Status and fields.
    var head: ResponseHead { ResponseHead(status: status, fields: fields) }
}
