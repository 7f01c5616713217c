// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// An HTTP client with a private cache of its own (RFC 9111). Copies share connections and cache. Thread-safe.
///
/// Every final status is an answer. Equal GETs that run at the same time ask the server once; each caller can be
/// cancelled by itself.
public struct HTTPClient: Sendable {
    private let core: HTTPClientCore

    /// Creates a client with its own network thread.
    public init(_ configuration: HTTPClientConfiguration = HTTPClientConfiguration()) {
        self.init(configuration, transport: NetworkTransport(configuration.network))
    }

    /// Creates a client on a transport of one's own.
    public init(_ configuration: HTTPClientConfiguration, transport: any HTTPTransport) {
        core = HTTPClientCore(configuration, transport: transport)
    }

    /// The cache; nil where nothing is stored.
    public var cache: HTTPCache? { core.cache }

    /// Waits until what is asked behind (`stale-while-revalidate`) is answered.
    public func finishRevalidations() async { await core.finishRevalidations() }

    /// Sends `request`, or answers it from the cache.
    ///
    /// - Throws: 2xxx for the way there and back, 2008 and 2009 for redirects, 6001 for more bytes than allowed, 1001
    ///   when cancelled, 1002 and 1009 for what HTTP cannot carry.
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
            // A stored body may have been accepted under a higher limit.
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
