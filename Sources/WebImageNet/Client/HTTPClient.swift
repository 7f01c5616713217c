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
        var hop = core.prepared(request)
        var visited = 0
        var interim: [ResponseHead] = []
        while true {
            guard !Task.isCancelled else { throw .request(.cancelled) }
            var response = try await core.answer(hop)
            // A stored body may have been accepted under a higher limit.
            let limit = request.maxBytes ?? core.configuration.maxBytes
            guard response.body.count <= limit else {
                throw .limit(LimitError(.encodedBytes, limit: limit, actual: response.body.count))
            }
            response.url = response.url.withoutUserInfo
            interim += response.interim
            response.interim = interim
            response.metrics.redirects = visited
            guard request.redirectMode != .manual else { return response }
            switch try next(after: response, to: hop) {
            case nil: return response
            case let following? where request.redirectMode == .follow: hop = following
            default: throw refusal(.redirectRefused, response, detail: "no redirect was allowed")
            }
            visited += 1
            guard visited <= core.configuration.network.maxRedirects else {
                throw refusal(.tooManyRedirects, response, detail: "more than \(visited - 1)")
            }
        }
    }

    /// The request that a redirect leads to; nil where the answer is no redirect.
    private func next(after response: HTTPResponse, to hop: HTTPRequest) throws(ImageError) -> HTTPRequest? {
        do throws(Redirect.Refusal) {
            let redirect = try Redirect(
                response.head, method: hop.method, from: hop.url,
                allowsDowngrade: core.configuration.network.allowsDowngrade,
                strictTransport: core.configuration.network.strictTransport)
            var next = hop
            next.url = redirect.url
            next.fields = redirect.fields(hop.fields)
            guard redirect.becomesGet else { return next }
            next.method = "GET"
            next.body = Data()
            next.fields = HTTPFields(next.fields.lines.filter { !$0.name.lowercased().hasPrefix("content-") })
            return next
        } catch {
            switch error {
            case .none: return nil
            case .refused(let reason): throw refusal(.redirectRefused, response, detail: reason)
            }
        }
    }

    private func refusal(_ reason: NetworkError.Reason, _ response: HTTPResponse, detail: String) -> ImageError {
        .network(
            NetworkError(
                reason, url: response.url.absoluteString, phase: .head, status: response.status, detail: detail))
    }
}
