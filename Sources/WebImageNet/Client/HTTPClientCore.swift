// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The implementation of an ``HTTPClient`` for one exchange: it queries the cache, sends the request, and updates the
/// cache.
final class HTTPClientCore: Sendable {
    let configuration: HTTPClientConfiguration
    let cache: HTTPCache?
    private let transport: any HTTPTransport
    private let rules: ExchangeRules
    private let waits: RetryWaits
    private let jobs = SharedJobs<JobKey, Answer, Never, RequestPriority, ImageError>(
        cancelled: .request(.cancelled))

    /// The key of coalesced requests, which contains everything that affects the response.
    struct JobKey: Hashable, Sendable {
        let exchange: ExchangeKey
        let mode: HTTPCacheMode
        /// The epoch of the URL. Requests after an invalidation don't join requests from before it.
        let epoch: UInt64
        /// A Boolean value that indicates whether this is a background revalidation, which continues without callers.
        let isBehind: Bool
    }

    /// A response and whether concurrent callers may share it.
    struct Answer: Sendable {
        var response: HTTPResponse
        var isShareable: Bool
    }

    init(_ configuration: HTTPClientConfiguration, transport: any HTTPTransport) {
        self.configuration = configuration
        self.transport = transport
        var network = configuration.network
        network.maxRedirects = min(max(network.maxRedirects, 0), 20)
        rules = ExchangeRules(network)
        waits = RetryWaits(network.retryClock)
        switch configuration.storage {
        case .none: cache = nil
        case .memory(let bytes):
            cache = HTTPCache(store: MemoryResponseStore(byteLimit: bytes), policy: configuration.policy)
        case .store(let store): cache = HTTPCache(store: store, policy: configuration.policy)
        }
    }

    /// Returns the exchange for a request. It includes the default header fields, because `Vary` compares what is
    /// sent.
    func path(of request: HTTPRequest) -> ExchangePath {
        var step = ExchangeStep(
            request.url, method: request.method, body: request.body,
            fields: configuration.network.sent(request.fields),
            rules: rules.applying(request.network, retry: request.retry))
        switch request.redirectMode {
        case .follow: step.redirectHandling = .follow
        case .manual: step.redirectHandling = .answer
        case .error: step.redirectHandling = .refuse
        }
        return ExchangePath(step)
    }

    /// Returns the request for one step. Its header fields contain an identity instead of credentials.
    func request(_ request: HTTPRequest, at step: ExchangeStep, sending fields: HTTPFields) -> HTTPRequest {
        var sent = request
        sent.url = step.url
        sent.method = step.method
        sent.body = step.body
        sent.fields = fields
        sent.step = step
        let saysCodings =
            request.fields["Accept-Encoding"] != nil || configuration.network.fields["Accept-Encoding"] != nil
        sent.hasOwnCodings = !saysCodings
        return sent
    }

    func finishRevalidations() async { await jobs.waitUntilIdle { $0.isBehind } }

    /// Returns the response to one exchange from the cache or the server.
    func answer(_ request: HTTPRequest) async throws(ImageError) -> HTTPResponse {
        guard let cache, request.head.mayUseStored, request.body.isEmpty else {
            return try await ask(request, nil, .fetch(request.fields)).response
        }
        let found = await cache.lookup(
            request.head, url: request.url, mode: request.cacheMode, now: configuration.now())
        // A canceled lookup can miss a stored response.
        if found.stored == nil, Task.isCancelled { throw .request(.cancelled) }
        if let response = reply(request, found) { return response }
        guard request.method == "GET", request.cacheMode != .noStore else {
            return try await ask(request, found.stored, found.step).response
        }
        let shared = try await jobs.landing(for: key(request), priority: ObservedValue(request.priority)) {
            [self] job in
            let context = LoadContext(following: job.priority)
            return await Result { () async throws(ImageError) in try await resolve(request, cache, context) }
        }
        // A response that can't be stored is only for the caller that started the exchange. Other callers send their
        // own requests.
        guard shared.isFirst || shared.value.isShareable else {
            return try await ask(request, found.stored, found.step).response
        }
        return shared.value.response
    }

    private func key(_ request: HTTPRequest, isBehind: Bool = false) -> JobKey {
        var load = LoadRequest(
            url: request.url, fields: request.fields, maxBytes: request.maxBytes ?? configuration.maxBytes)
        load.network = request.network
        load.retry = request.retry
        return JobKey(
            exchange: ExchangeKey(load, rules: rules), mode: request.cacheMode,
            epoch: cache?.epoch(of: request.url) ?? 0, isBehind: isBehind)
    }

    /// Returns the response for all callers that share the request. Looks up the cache again, because another exchange
    /// may have finished in the meantime.
    private func resolve(
        _ request: HTTPRequest, _ cache: HTTPCache, _ context: LoadContext
    ) async throws(ImageError) -> Answer {
        let found = await cache.lookup(
            request.head, url: request.url, mode: request.cacheMode, now: configuration.now())
        if let response = reply(request, found) { return Answer(response: response, isShareable: true) }
        return try await ask(request, found.stored, found.step, context)
    }

    /// Returns the response if the cache can serve it, or `nil` if a request to the server is needed.
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

    /// Starts a background revalidation of `stored`. Concurrent revalidations are coalesced.
    private func revalidateBehind(_ request: HTTPRequest, _ stored: StoredResponse) {
        var plain = request
        // Ranges and conditions belong to the caller, but the stored response is revalidated as a whole.
        for name in ["Range", "If-Range", "If-None-Match", "If-Modified-Since"] { plain.fields[name] = nil }
        plain.method = "GET"
        let asked = plain
        // No caller waits for this request, so other requests take precedence.
        jobs.launch(key(asked, isBehind: true), priority: .low) { [self] job in
            let step = CacheStep.confirmation(of: stored.head, for: asked.head)
            let context = LoadContext(following: job.priority)
            return await Result { () async throws(ImageError) in try await ask(asked, stored, step, context) }
        }
    }
}

extension HTTPClientCore {
    /// Sends a request to the server and processes the response according to RFC 9111.
    func ask(
        _ request: HTTPRequest, _ stored: StoredResponse?, _ step: CacheStep, _ context: LoadContext? = nil
    ) async throws(ImageError) -> Answer {
        let epoch = cache?.epoch(of: request.url)
        let answer: HTTPTransportResponse
        do {
            answer = try await send(exchange(request, step, context), request.step?.rules.retry ?? rules.retry)
            // Process cookies and HSTS only for responses from the server. For cached responses, it happened on
            // arrival.
            request.step?.learn(answer.head)
        } catch {
            guard error.isUnreachable, let stored, outcome(.unreachable, request, step, stored) == .useStale else {
                throw error
            }
            return Answer(response: reply(request, stored, .stale), isShareable: true)
        }
        switch outcome(.answer(answer.head), request, step, stored) {
        case .useStale, .fail:
            if let stored { return Answer(response: reply(request, stored, .stale, answer), isShareable: true) }
        case .confirmed:
            if let stored {
                let current = await cache?.freshen(stored, with: answer, for: request.head, url: request.url) ?? stored
                return Answer(response: reply(request, current, .revalidated, answer), isShareable: true)
            }
        case .askAgain: return try await ask(request, nil, .fetch(request.fields), context)
        case .give(let freshens):
            if freshens, let stored {
                _ = await cache?.freshen(stored, with: answer, for: request.head, url: request.url)
            }
        }
        return Answer(response: response(request, answer), isShareable: await keep(answer, request, epoch))
    }

    /// Sends a request and retries it according to the policy if no response is received.
    private func send(
        _ request: HTTPTransportRequest, _ policy: RetryPolicy
    ) async throws(ImageError) -> HTTPTransportResponse {
        guard policy.attempts > 1, Self.repeatable.contains(request.method) else {
            return try await transport.send(request)
        }
        let start = waits.now
        var retries = RetryState(policy)
        var failures: [NetworkError] = []
        while true {
            do throws(ImageError) {
                var answer = try await transport.send(request)
                answer.metrics.attempts += failures.last?.attempt ?? 0
                answer.metrics.failures = failures
                return answer
            } catch {
                guard case .network(var failure) = error else { throw error }
                failure.attempt += failures.last?.attempt ?? 0
                guard case .again(let seconds) = retries.decide(failure, elapsed: waits.now - start) else {
                    throw .network(failure.telling(failures))
                }
                failures.append(failure)
                try await waits.wait(seconds)
            }
        }
    }

    /// The idempotent methods (RFC 9110 9.2.2).
    private static let repeatable: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    private func exchange(
        _ request: HTTPRequest, _ step: CacheStep, _ context: LoadContext?
    ) -> HTTPTransportRequest {
        var fields = request.fields
        switch step {
        case .fetch(let sent), .revalidate(let sent): fields = sent
        case .use, .useStale, .gatewayTimeout: break
        }
        // Ranges of an encoded body are useless (Fetch 4.6). Change only the sent header fields, so that the lookup
        // still finds a stored complete response.
        if request.hasOwnCodings, fields["Range"] != nil { fields["Accept-Encoding"] = "identity" }
        fields = request.step?.replacingIdentity(in: fields, method: request.method) ?? fields
        var sent = HTTPTransportRequest(
            url: request.url, method: request.method, fields: fields, body: request.body,
            maxBytes: request.maxBytes ?? configuration.maxBytes, timeouts: request.timeouts,
            priority: context?.priority ?? request.priority)
        sent.context = context
        sent.tls = request.network.tls
        return sent
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

    /// Updates the cache with a response. Returns `true` if the response is stored and can be shared.
    private func keep(
        _ answer: HTTPTransportResponse, _ request: HTTPRequest, _ epoch: UInt64?
    ) async -> Bool {
        guard let cache else { return false }
        let isCurrent = epoch == nil || epoch == cache.epoch(of: request.url)
        await cache.invalidate(after: request.head, url: request.url, response: answer.head)
        // The meaning of a body in a GET request is undefined (RFC 9110 9.3.1), so don't store such a response.
        let isPost = request.method == "POST"
        guard request.cacheMode != .noStore, request.body.isEmpty || isPost else { return false }
        if request.method == "HEAD" {
            await cache.freshen(byHead: answer, for: request.head, url: request.url)
            return false
        }
        // A POST request invalidates the earlier responses but not its own.
        let asked = isPost && isCurrent ? cache.epoch(of: request.url) : epoch
        return await cache.store(answer, for: request.head, url: request.url, epoch: asked)
    }
}
