// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The work of an ``HTTPClient`` for one exchange: asks the cache, asks the server, and tells the cache what came.
final class HTTPClientCore: Sendable {
    let configuration: HTTPClientConfiguration
    let cache: HTTPCache?
    private let transport: any HTTPTransport
    private let flights = FlightTable<FlightKey, Flown>()

    /// Equal requests: what they have alike decides the answer.
    struct FlightKey: Hashable, Sendable {
        let url: String
        let fields: HTTPFields
        let mode: HTTPCacheMode
        let maxBytes: Int
        /// Who asks after an invalidation does not join who asked before it.
        let epoch: UInt64
        /// Requests behind are nobody's and go on when a caller leaves.
        let isBehind: Bool
    }

    /// An answer, and whether others than who asked for it may have it too.
    struct Flown: Sendable {
        var response: HTTPResponse
        var isShareable: Bool
    }

    init(_ configuration: HTTPClientConfiguration, transport: any HTTPTransport) {
        self.configuration = configuration
        self.transport = transport
        switch configuration.storage {
        case .none: cache = nil
        case .memory(let bytes):
            cache = HTTPCache(store: MemoryResponseStore(byteLimit: bytes), policy: configuration.policy)
        case .store(let store): cache = HTTPCache(store: store, policy: configuration.policy)
        }
    }

    /// `request` with the fields every request has: Vary compares what is sent.
    func prepared(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.url = configuration.network.strictTransport?.secured(request.url) ?? request.url
        let named = configuration.network.fields
        let saysCodings = request.fields["Accept-Encoding"] != nil || named["Accept-Encoding"] != nil
        request.hasOwnCodings = request.hasOwnCodings || !saysCodings
        request.fields = configuration.network.sent(request.fields)
        return request
    }

    func finishRevalidations() async { await flights.waitUntilIdle { $0.isBehind } }

    /// The answer to one exchange, from cache or server.
    func answer(_ request: HTTPRequest) async throws(ImageError) -> HTTPResponse {
        guard let cache, request.head.mayUseStored, request.body.isEmpty else {
            return try await ask(request, nil, .fetch(request.fields)).response
        }
        let found = await cache.lookup(
            request.head, url: request.url, mode: request.cacheMode, now: configuration.now())
        if let response = reply(request, found) { return response }
        guard request.method == "GET", request.cacheMode != .noStore else {
            return try await ask(request, found.stored, found.step).response
        }
        let flown = try await flights.value(for: key(request)) { [self] () async throws(ImageError) -> Flown in
            try await resolve(request, cache)
        }
        // An answer that may not be stored is for who asked for it, and for nobody else.
        guard flown.isFirst || flown.value.isShareable else {
            return try await ask(request, found.stored, found.step).response
        }
        return flown.value.response
    }

    private func key(_ request: HTTPRequest, isBehind: Bool = false) -> FlightKey {
        FlightKey(
            url: HTTPCache.key(request.url), fields: request.fields, mode: request.cacheMode,
            maxBytes: request.maxBytes ?? configuration.maxBytes,
            epoch: cache?.epoch(of: request.url) ?? 0, isBehind: isBehind)
    }

    /// The body of a flight. Looks again: another flight may have landed since.
    private func resolve(_ request: HTTPRequest, _ cache: HTTPCache) async throws(ImageError) -> Flown {
        let found = await cache.lookup(
            request.head, url: request.url, mode: request.cacheMode, now: configuration.now())
        if let response = reply(request, found) { return Flown(response: response, isShareable: true) }
        return try await ask(request, found.stored, found.step)
    }

    /// What the cache alone answers; nil where the server must be asked.
    private func reply(_ request: HTTPRequest, _ found: HTTPCache.Lookup) -> HTTPResponse? {
        switch found.step {
        case .use: return found.stored.map { reply(request, $0, .cache) }
        case .useStale(let revalidatesBehind):
            if revalidatesBehind, let stored = found.stored { revalidateBehind(request, stored) }
            return found.stored.map { reply(request, $0, .stale) }
        case .gatewayTimeout: return HTTPResponse(status: 504, source: .cache, url: request.url)
        case .fetch, .revalidate: return nil
        }
    }

    private func reply(
        _ request: HTTPRequest, _ stored: StoredResponse, _ source: HTTPResponse.Source,
        _ answer: HTTPTransportResponse? = nil
    ) -> HTTPResponse {
        let reply = StoredReply.make(
            to: request.head, from: stored.head, size: stored.body.count, now: configuration.now())
        let start = stored.body.startIndex
        let whole = reply.body == 0..<stored.body.count
        let body = whole ? stored.body : stored.body[(start + reply.body.lowerBound)..<(start + reply.body.upperBound)]
        return HTTPResponse(
            status: reply.head.status, fields: reply.head.fields, body: body, source: source,
            interim: answer?.interim ?? [], url: request.url, metrics: answer?.metrics ?? LoadMetrics())
    }

    /// Asks whether `stored` still holds, once however many want to know, and waits for nothing.
    private func revalidateBehind(_ request: HTTPRequest, _ stored: StoredResponse) {
        var plain = request
        // Ranges and conditions are the caller's; the stored answer is confirmed as a whole.
        for name in ["Range", "If-Range", "If-None-Match", "If-Modified-Since"] { plain.fields[name] = nil }
        plain.method = "GET"
        let asked = plain
        flights.launch(key(asked, isBehind: true)) { [self] () async throws(ImageError) -> Flown in
            try await ask(asked, stored, CacheStep.confirmation(of: stored.head, for: asked.head))
        }
    }
}

extension HTTPClientCore {
    /// Asks the server, and does with the answer what RFC 9111 says.
    func ask(
        _ request: HTTPRequest, _ stored: StoredResponse?, _ step: CacheStep
    ) async throws(ImageError) -> Flown {
        let epoch = cache?.epoch(of: request.url)
        let answer: HTTPTransportResponse
        do {
            answer = try await transport.send(exchange(request, step))
            let network = configuration.network
            network.strictTransport?.take(answer.head, from: request.url, network.tls)
        } catch {
            guard error.isUnreachable, let stored, outcome(.unreachable, request, step, stored) == .useStale else {
                throw error
            }
            return Flown(response: reply(request, stored, .stale), isShareable: true)
        }
        switch outcome(.answer(answer.head), request, step, stored) {
        case .useStale, .fail:
            if let stored { return Flown(response: reply(request, stored, .stale, answer), isShareable: true) }
        case .confirmed:
            if let stored {
                let current = await cache?.freshen(stored, with: answer, for: request.head, url: request.url) ?? stored
                return Flown(response: reply(request, current, .revalidated, answer), isShareable: true)
            }
        case .askAgain: return try await ask(request, nil, .fetch(request.fields))
        case .give(let freshens):
            if freshens, let stored {
                _ = await cache?.freshen(stored, with: answer, for: request.head, url: request.url)
            }
        }
        return Flown(response: response(request, answer), isShareable: await keep(answer, request, epoch))
    }

    private func exchange(_ request: HTTPRequest, _ step: CacheStep) -> HTTPTransportRequest {
        var fields = request.fields
        switch step {
        case .fetch(let sent), .revalidate(let sent): fields = sent
        case .use, .useStale, .gatewayTimeout: break
        }
        // Parts of a coded body are of no use (Fetch 4.6). Only what is sent says so: a stored whole is found as ever.
        if request.hasOwnCodings, fields["Range"] != nil { fields["Accept-Encoding"] = "identity" }
        return HTTPTransportRequest(
            url: request.url, method: request.method, fields: fields, body: request.body,
            maxBytes: request.maxBytes ?? configuration.maxBytes, timeouts: request.timeouts,
            priority: request.priority)
    }

    private func outcome(
        _ event: CacheOutcome.Event, _ request: HTTPRequest, _ step: CacheStep, _ stored: StoredResponse?
    ) -> CacheOutcome {
        CacheOutcome.make(
            event, request: request.head, step: step, mode: request.cacheMode, stored: stored?.head,
            policy: configuration.policy, now: configuration.now())
    }

    private func response(_ request: HTTPRequest, _ answer: HTTPTransportResponse) -> HTTPResponse {
        HTTPResponse(
            status: answer.head.status, fields: answer.head.fields, body: answer.body, interim: answer.interim,
            url: request.url, metrics: answer.metrics)
    }

    /// Tells the cache of an answer. True where it is stored, and so may serve others.
    private func keep(
        _ answer: HTTPTransportResponse, _ request: HTTPRequest, _ epoch: UInt64?
    ) async -> Bool {
        guard let cache else { return false }
        let isCurrent = epoch == nil || epoch == cache.epoch(of: request.url)
        await cache.invalidate(after: request.head, url: request.url, response: answer.head)
        // What a body in a GET means is not defined (RFC 9110 9.3.1): such an answer is of that body only.
        let isPost = request.method == "POST"
        guard request.cacheMode != .noStore, request.body.isEmpty || isPost else { return false }
        if request.method == "HEAD" {
            await cache.freshen(byHead: answer, for: request.head, url: request.url)
            return false
        }
        // A POST has just invalidated what was before it, and not itself.
        let asked = isPost && isCurrent ? cache.epoch(of: request.url) : epoch
        return await cache.store(answer, for: request.head, url: request.url, epoch: asked)
    }
}
