// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet

/// The implementation of an ``HTTPClient`` for one exchange: it queries the cache, sends the request, and updates the
/// cache.
final class HTTPCacheExchange: Sendable {
    let configuration: HTTPClient.Configuration
    let cache: HTTPCache?
    private let transport: any HTTPTransport
    private let rules: ExchangeRules
    private let waits: RetryScheduler
    private let jobs = SharedJobs<JobKey, SharedResponse, Never, RequestPriority, ImageError>(
        cancelled: .cancelled)

    /// The key of coalesced requests, which contains everything that affects the response.
    struct JobKey: Hashable, Sendable {
        let exchange: ExchangeKey
        let mode: HTTPCacheMode
        /// The epoch of the URL. Requests after an invalidation don't join requests from before it.
        let epoch: UInt64
        /// Whether this is a background revalidation, which continues without callers.
        let isBackground: Bool
    }

    /// A response and whether concurrent callers may share it.
    struct SharedResponse: Sendable {
        var response: HTTPClient.Response
        var isShareable: Bool
    }

    init(_ configuration: HTTPClient.Configuration, transport: any HTTPTransport) {
        self.configuration = configuration
        self.transport = transport
        var network = configuration.network
        // The Fetch Standard has the same maximum.
        network.maxRedirects = min(max(network.maxRedirects, 0), 20)
        rules = ExchangeRules(network)
        waits = RetryScheduler(network.retryClock)
        cache = configuration.responseStore.map { HTTPCache(store: $0, policy: configuration.cachePolicy) }
    }

    /// Returns the exchange for a request. It includes the default header fields, because `Vary` compares what is
    /// sent.
    func path(of request: HTTPClient.Request) -> ExchangePath {
        var step = ExchangeStep(
            request.url, method: request.method, body: request.body,
            headers: configuration.network.sent(request.headers),
            rules: rules.applying(request.network))
        switch request.redirectMode {
        case .follow: step.redirectHandling = .follow
        case .manual: step.redirectHandling = .returnResponse
        case .error: step.redirectHandling = .refuse
        }
        return ExchangePath(step)
    }

    /// Returns the request for one step. Its header fields contain an identity instead of credentials.
    func request(_ request: HTTPClient.Request, at step: ExchangeStep, sending fields: HTTPHeaderFields)
        -> HTTPClient.Request
    {
        var sent = request
        sent.url = step.url
        sent.method = step.method
        sent.body = step.body
        sent.headers = fields
        sent.step = step
        let saysCodings =
            request.headers["Accept-Encoding"] != nil || configuration.network.headers["Accept-Encoding"] != nil
        sent.hasOwnCodings = !saysCodings
        return sent
    }

    func finishRevalidations() async { await jobs.waitUntilIdle { $0.isBackground } }

    func response(for request: HTTPClient.Request) async throws(ImageError) -> HTTPClient.Response {
        guard let cache, request.head.mayUseStored, request.body.isEmpty else {
            return try await self.request(request, nil, .fetch(request.headers)).response
        }
        let found = await cache.lookup(
            request.head, url: request.url, mode: request.cacheMode, now: configuration.now())
        // A canceled lookup can miss a stored response.
        if found.stored == nil, Task.isCancelled { throw .cancelled }
        if let response = reply(request, found) { return response }
        guard request.method == "GET", request.cacheMode != .noStore else {
            return try await self.request(request, found.stored, found.step).response
        }
        let shared = try await jobs.landing(for: key(request), priority: ObservableValue(request.priority)) {
            [self] job in
            let context = LoadContext(following: job.priority)
            return await Result { () async throws(ImageError) in try await resolve(request, cache, context) }
        }
        // A response that can't be stored is only for the caller that started the exchange. Other callers send their
        // own requests.
        guard shared.isFirst || shared.value.isShareable else {
            return try await self.request(request, found.stored, found.step).response
        }
        return shared.value.response
    }

    private func key(_ request: HTTPClient.Request, isBackground: Bool = false) -> JobKey {
        var load = LoadRequest(
            url: request.url, headers: request.headers, maxByteCount: request.maxBodySize ?? configuration.maxBodySize)
        load.network = request.network
        return JobKey(
            exchange: ExchangeKey(load, rules: rules), mode: request.cacheMode,
            epoch: cache?.epoch(of: request.url) ?? 0, isBackground: isBackground)
    }

    /// Looks up the cache again, because another exchange may have finished in the meantime.
    private func resolve(
        _ request: HTTPClient.Request, _ cache: HTTPCache, _ context: LoadContext
    ) async throws(ImageError) -> SharedResponse {
        let found = await cache.lookup(
            request.head, url: request.url, mode: request.cacheMode, now: configuration.now())
        if let response = reply(request, found) { return SharedResponse(response: response, isShareable: true) }
        return try await self.request(request, found.stored, found.step, context)
    }

    private func reply(_ request: HTTPClient.Request, _ found: HTTPCache.Lookup) -> HTTPClient.Response? {
        switch found.step {
        case .use: return found.stored.map { reply(request, $0, .cache) }
        case .useStale(let revalidatesBehind):
            if revalidatesBehind, let stored = found.stored { revalidateInBackground(request, stored) }
            return found.stored.map { reply(request, $0, .stale) }
        case .gatewayTimeout: return HTTPClient.Response(statusCode: 504, source: .cache, url: request.url)
        case .fetch, .revalidate: return nil
        }
    }

    private func reply(
        _ request: HTTPClient.Request, _ stored: StoredResponse, _ source: HTTPClient.Response.Source,
        _ response: TransferResponse? = nil
    ) -> HTTPClient.Response {
        let reply = CachedReply.make(
            to: request.head, from: stored.head, size: stored.body.count, now: configuration.now())
        let start = stored.body.startIndex
        let whole = reply.body == 0..<stored.body.count
        let body = whole ? stored.body : stored.body[(start + reply.body.lowerBound)..<(start + reply.body.upperBound)]
        return HTTPClient.Response(
            statusCode: reply.head.statusCode, headers: reply.head.headers, body: body, source: source,
            informationalResponses: response?.interim ?? [], url: request.url,
            metrics: response?.metrics ?? NetworkMetrics())
    }

    /// Starts a background revalidation of `stored`. Concurrent revalidations are coalesced.
    private func revalidateInBackground(_ request: HTTPClient.Request, _ stored: StoredResponse) {
        var plain = request
        // Ranges and conditions belong to the caller, but the stored response is revalidated as a whole.
        for name in ["Range", "If-Range", "If-None-Match", "If-Modified-Since"] { plain.headers[name] = nil }
        plain.method = "GET"
        let asked = plain
        // No caller waits for this request, so other requests take precedence.
        jobs.launch(key(asked, isBackground: true), priority: .low) { [self] job in
            let step = CacheAction.confirmation(of: stored.head, for: asked.head)
            let context = LoadContext(following: job.priority)
            return await Result { () async throws(ImageError) in try await self.request(asked, stored, step, context) }
        }
    }
}

extension HTTPCacheExchange {
    func request(
        _ request: HTTPClient.Request, _ stored: StoredResponse?, _ step: CacheAction, _ context: LoadContext? = nil
    ) async throws(ImageError) -> SharedResponse {
        let epoch = cache?.epoch(of: request.url)
        let response: TransferResponse
        do {
            response = try await send(
                try transferRequest(request, step), context ?? LoadContext(priority: request.priority),
                request.step?.rules.retry ?? rules.retry)
            // Process cookies and HSTS only for responses from the server. For cached responses, it happened on
            // arrival.
            request.step?.learn(response.head)
        } catch {
            guard error.isUnreachable, let stored, outcome(.unreachable, request, step, stored) == .useStale else {
                throw error
            }
            return SharedResponse(response: reply(request, stored, .stale), isShareable: true)
        }
        switch outcome(.response(response.head), request, step, stored) {
        case .useStale, .fail:
            if let stored {
                return SharedResponse(response: reply(request, stored, .stale, response), isShareable: true)
            }
        case .revalidated:
            if let stored {
                let current =
                    await cache?.freshen(stored, with: response, for: request.head, url: request.url) ?? stored
                return SharedResponse(response: reply(request, current, .revalidated, response), isShareable: true)
            }
        case .repeatUnconditionally: return try await self.request(request, nil, .fetch(request.headers), context)
        case .useResponse(let freshens):
            if freshens, let stored {
                _ = await cache?.freshen(stored, with: response, for: request.head, url: request.url)
            }
        }
        return SharedResponse(
            response: clientResponse(request, response), isShareable: await keep(response, request, epoch))
    }

    /// Sends a request and retries it according to the policy if no response is received.
    private func send(
        _ request: TransferRequest, _ context: LoadContext, _ policy: RetryPolicy
    ) async throws(ImageError) -> TransferResponse {
        // To repeat another request could repeat its effect (RFC 9110 9.2.2).
        guard policy.maxAttempts > 1, LoadRequest.idempotentMethods.contains(request.method) else {
            return try await transport.send(request, context: context)
        }
        let start = waits.now
        var retries = RetryStateMachine(policy)
        var failures: [ImageError.NetworkFailure] = []
        while true {
            do throws(ImageError) {
                let response = try await transport.send(request, context: context)
                var metrics = response.metrics
                metrics.attemptCount += failures.last?.attempt ?? 0
                metrics.failures = failures
                return response.with(metrics: metrics)
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

    private func transferRequest(
        _ request: HTTPClient.Request, _ action: CacheAction
    ) throws(ImageError) -> TransferRequest {
        var fields = request.headers
        switch action {
        case .fetch(let sent), .revalidate(let sent): fields = sent
        case .use, .useStale, .gatewayTimeout: break
        }
        // Ranges of an encoded body are useless (Fetch 4.6). Change only the sent header fields, so that the lookup
        // still finds a stored complete response.
        if request.hasOwnCodings, fields["Range"] != nil { fields["Accept-Encoding"] = "identity" }
        let step = request.step ?? path(of: request).begin().step
        fields = step.replacingIdentity(in: fields, method: request.method)
        var sent = TransferRequest(url: try step.check(fields), origin: Origin(step.url).description)
        sent.method = request.method
        sent.headers = fields
        sent.body = request.body
        sent.maxBytes = request.maxBodySize ?? configuration.maxBodySize
        sent.timeouts = configuration.network.loadTimeouts
        if let timeout = request.timeout { sent.timeouts.total = timeout / .seconds(1) }
        // Part of an encoded body can't be decoded on its own.
        sent.decodesParts = false
        sent.tls = request.network.tls
        sent.awsSignature = step.awsSignature
        return sent
    }

    private func outcome(
        _ event: RevalidationResult.ServerResult, _ request: HTTPClient.Request, _ step: CacheAction,
        _ stored: StoredResponse?
    ) -> RevalidationResult {
        RevalidationResult.make(
            event, request: request.head, step: step, mode: request.cacheMode, stored: stored?.head,
            policy: configuration.cachePolicy, now: configuration.now())
    }

    private func clientResponse(_ request: HTTPClient.Request, _ response: TransferResponse) -> HTTPClient.Response {
        HTTPClient.Response(
            statusCode: response.head.statusCode, headers: response.head.headers, body: response.body,
            informationalResponses: response.interim,
            url: request.url, metrics: response.metrics)
    }

    /// Updates the cache with a response. Returns `true` if the response is stored and can be shared.
    private func keep(
        _ response: TransferResponse, _ request: HTTPClient.Request, _ epoch: UInt64?
    ) async -> Bool {
        guard let cache else { return false }
        let isCurrent = epoch == nil || epoch == cache.epoch(of: request.url)
        await cache.invalidate(after: request.head, url: request.url, response: response.head)
        // The meaning of a body in a GET request is undefined (RFC 9110 9.3.1), so don't store such a response.
        let isPost = request.method == "POST"
        guard request.cacheMode != .noStore, request.body.isEmpty || isPost else { return false }
        if request.method == "HEAD" {
            await cache.freshen(byHead: response, for: request.head, url: request.url)
            return false
        }
        // A POST request invalidates the earlier responses but not its own.
        let asked = isPost && isCurrent ? cache.epoch(of: request.url) : epoch
        return await cache.store(response, for: request.head, url: request.url, epoch: asked)
    }
}
