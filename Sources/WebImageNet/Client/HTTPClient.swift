// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// An HTTP client with a private cache (RFC 9111). Copies share the connections and the cache. Thread-safe.
///
/// A response with any final status is a success. Concurrent equal GET requests share one exchange with the server,
/// and each caller can be canceled independently.
public struct HTTPClient: Sendable {
    private let core: HTTPClientCore

    /// Creates a client with its own network thread.
    public init(_ configuration: HTTPClientConfiguration = HTTPClientConfiguration()) {
        self.init(configuration, transport: NetworkTransport(configuration.network))
    }

    /// Creates a client with a custom transport.
    public init(_ configuration: HTTPClientConfiguration, transport: any HTTPTransport) {
        core = HTTPClientCore(configuration, transport: transport)
    }

    /// The cache, or `nil` if the client stores no responses.
    public var cache: HTTPCache? { core.cache }

    /// Waits until all background revalidations (`stale-while-revalidate`) finish.
    public func finishRevalidations() async { await core.finishRevalidations() }

    /// Sends a request or serves it from the cache.
    ///
    /// - Throws: A network error (2xxx), including 2008 and 2009 for redirects. Error 6001 means that the body
    ///   exceeds the size limit, 1001 that the task was canceled, 1003 that the scheme isn't allowed, and 1002 or 1009
    ///   that the URL, the method, or a header field isn't valid in HTTP.
    public func fetch(_ request: HTTPRequest) async throws(ImageError) -> HTTPResponse {
        let path = core.path(of: request)
        var interim: [ResponseHead] = []
        while true {
            guard !Task.isCancelled else { throw .request(.cancelled) }
            let step = path.begin().step
            let sent = step.fieldsWithIdentity()
            _ = try step.check(sent)
            try path.note(step, sending: sent)
            var response = try await core.answer(core.request(request, at: step, sending: sent))
            // The stored body may exceed the limit of this request because another request with a higher limit stored
            // it.
            let limit = request.maxBytes ?? core.configuration.maxBytes
            guard response.body.count <= limit else {
                throw .limit(LimitError(.encodedBytes, limit: limit, actual: response.body.count))
            }
            interim += response.interim
            response.interim = interim
            response.metrics.redirects = step.redirects
            let now = core.configuration.now()
            if try path.advance(after: response.head, requestTime: now, responseTime: now) != nil { return response }
        }
    }
}
