// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet

/// An HTTP client with a private cache (RFC 9111). Copies share the connections and the cache. Thread-safe.
///
/// A response with any final status is a success. Concurrent equal GET requests share one exchange with the server,
/// and each caller can be canceled independently.
public struct HTTPClient: Sendable {
    private let core: HTTPCacheExchange

    /// Creates a client with its own network thread.
    public init(configuration: HTTPClient.Configuration = HTTPClient.Configuration()) {
        self.init(configuration: configuration, transport: CurlTransport(configuration.network))
    }

    /// Creates a client with a custom transport.
    package init(configuration: HTTPClient.Configuration, transport: any HTTPTransport) {
        core = HTTPCacheExchange(configuration, transport: transport)
    }

    /// The cache, or `nil` if the client stores no responses.
    package var cache: HTTPCache? { core.cache }

    /// Removes the cached responses of a URL.
    ///
    /// Responses that are in flight aren't stored afterward.
    public func removeCachedResponses(for url: URL) async { await core.cache?.remove(url) }

    /// Removes all cached responses.
    ///
    /// If the configuration has a ``HTTPClient/Configuration/diskCache``, this method removes its entire content.
    /// Responses that are in flight aren't stored afterward.
    public func removeAllCachedResponses() async { await core.cache?.removeAll() }

    /// Waits until all background revalidations (`stale-while-revalidate`) finish.
    public func shutdown() async { await core.finishRevalidations() }

    /// Fetches a URL with GET, from the server or from the cache.
    ///
    /// - Throws: The errors of ``fetch(_:)``.
    public func get(_ url: URL) async throws(ImageError) -> HTTPClient.Response {
        try await fetch(HTTPClient.Request(url: url))
    }

    /// Sends a request or serves it from the cache.
    ///
    /// - Throws: An ``ImageError/NetworkFailure``, including ``ImageError/NetworkFailure/Reason/tooManyRedirects`` and
    ///   ``ImageError/NetworkFailure/Reason/redirectNotAllowed`` for redirects. Other errors are
    ///   ``ImageError/LimitFailure/Kind/encodedSize`` if the body exceeds the size limit, ``ImageError/cancelled`` if
    ///   the task is canceled, ``ImageError/RequestFailure/unsupportedScheme(_:)`` if the scheme isn't allowed, and
    ///   ``ImageError/RequestFailure/invalidURL(_:)`` or ``ImageError/RequestFailure/invalidOption(name:value:)`` if
    ///   the URL, the method, or a header field isn't valid in HTTP.
    public func fetch(_ request: HTTPClient.Request) async throws(ImageError) -> HTTPClient.Response {
        let path = core.path(of: request)
        var interim: [HTTPResponseHead] = []
        while true {
            guard !Task.isCancelled else { throw .cancelled }
            let step = path.begin().step
            let sent = step.headersWithIdentity()
            _ = try step.check(sent)
            try path.record(step, sending: sent)
            var response = try await core.response(for: core.request(request, at: step, sending: sent))
            // The stored body may exceed the limit of this request because another request with a higher limit stored
            // it.
            let limit = request.maxBodySize ?? core.configuration.maxBodySize
            guard response.body.count <= limit else {
                throw .limitExceeded(ImageError.LimitFailure(.encodedSize, limit: limit, actual: response.body.count))
            }
            interim += response.informationalResponses
            response.informationalResponses = interim
            response.metrics.redirectCount = step.redirects
            let now = core.configuration.now()
            if try path.advance(after: response.head, requestTime: now, responseTime: now) != nil { return response }
        }
    }
}
