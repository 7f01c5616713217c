// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet

extension HTTPClient {
    /// A request for an ``HTTPClient``.
    public struct Request: Sendable {
        /// The handling of redirects (Fetch 2.2.5).
        public enum RedirectMode: String, Sendable, Hashable, Codable, CaseIterable {
            /// A mode that follows redirects according to the rules of ``HTTPClient/Configuration``. This is the
            /// default.
            case follow
            /// A mode that returns redirects as responses.
            case manual
            /// A mode in which redirects fail with ``ImageError/NetworkFailure/Reason/redirectNotAllowed``.
            case error
        }

        /// The URL, with the scheme `http` or `https`.
        public var url: URL
        /// The method, which is any token. The default is `GET`.
        public var method: String
        /// The header fields, which are sent in this order and can be repeated. The values are Latin-1 text.
        public var headers: HTTPHeaderFields
        /// The body, which is empty by default.
        public var body: Data
        /// The use of the cache. The default follows RFC 9111.
        public var cacheMode = HTTPCacheMode.default
        /// The handling of redirects. By default, they're followed.
        public var redirectMode = RedirectMode.follow
        /// The priority of the request. The default is normal.
        public var priority = RequestPriority.normal
        /// The timeout of the transfer, or `nil` for the timeout of the client. The default is `nil`.
        ///
        /// The time in the queue doesn't count. Each redirect is a transfer of its own.
        public var timeout: Duration?
        /// The maximum size of the body in bytes, or `nil` for the limit of the client.
        public var maxBodySize: Int?
        /// The cookies, TLS configuration, credentials, and redirect policy that differ from those of the client.
        ///
        /// Accepted statuses and content types have no effect because the client returns every final status as a
        /// response. The client retries only idempotent requests (RFC 9110 9.2.2), and it doesn't retry based on the
        /// status. Timeouts and alternative URLs have no effect.
        package var network = NetworkOptions()
        /// Whether the client, not the caller, sets `Accept-Encoding`.
        var hasOwnCodings = false
        /// The current step of the exchange, which is set while the client follows redirects and challenges.
        var step: ExchangeStep?

        /// Creates a request.
        public init(
            url: URL, method: String = "GET", headers: HTTPHeaderFields = HTTPHeaderFields(), body: Data = Data()
        ) {
            self.url = url
            self.method = method
            self.headers = headers
            self.body = body
        }

        var head: RequestHead { RequestHead(method: method, headers: headers) }
    }
}

extension HTTPClient {
    /// The response to an ``HTTPClient/Request``. Any final status is a response, including server errors.
    public struct Response: Sendable {
        /// The source of a response.
        public enum Source: String, Sendable, Hashable, Codable {
            /// The server.
            case network
            /// The cache, without a request to the server. A 504 response that the cache generates also has this
            /// source.
            case cache
            /// The cache, after revalidation by the server.
            case revalidated
            /// The cache, with a stale response. Either the request accepts it, the client revalidates it in the
            /// background, or the server failed.
            case stale
        }

        /// The three-digit status code.
        public var statusCode: Int
        /// The header fields in the order in which they were received, including repeated ones. The values are Latin-1
        /// text. Cached responses have a current `Age`.
        public var headers: HTTPHeaderFields
        /// The body without the content codings that this library supports. Unknown codings are passed through.
        public var body: Data
        /// The source of the response.
        public var source: Source
        /// The interim responses (1xx) that preceded this response.
        public var informationalResponses: [HTTPResponseHead]
        /// The URL of the response after redirects.
        public var url: URL
        /// The timing and size measurements. They're all zero for responses from the cache alone.
        public var metrics: NetworkMetrics

        /// Creates a response.
        package init(
            statusCode: Int, headers: HTTPHeaderFields = HTTPHeaderFields(), body: Data = Data(),
            source: Source = .network,
            informationalResponses: [HTTPResponseHead] = [], url: URL, metrics: NetworkMetrics = NetworkMetrics()
        ) {
            self.statusCode = statusCode
            self.headers = headers
            self.body = body
            self.source = source
            self.informationalResponses = informationalResponses
            self.url = url
            self.metrics = metrics
        }

        /// The age of the response according to the `Age` header field, or `nil` if the header field is absent.
        public var age: Duration? { headers["Age"].flatMap { Int($0) }.map { .seconds($0) } }
        var head: HTTPResponseHead { HTTPResponseHead(statusCode: statusCode, headers: headers) }
    }
}
