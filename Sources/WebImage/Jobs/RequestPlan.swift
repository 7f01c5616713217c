// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// A request with everything filled in that it left to the configuration, and its keys. An object: every stage holds it,
/// and a copy of the request would cost more than what most of them do.
final class RequestPlan: Sendable {
    let request: ImageRequest
    let keys: RequestKeys
    let transformers: [any ImageTransformer]
    let policy: CachePolicy
    let limits: Limits
    /// The moment at which freshness is judged.
    let now: Date
    /// When the request was made.
    let asked: ContinuousClock.Instant
    let defaults: RequestDefaults
    /// Tells observers what happens; nil while there are none.
    let trace: RequestTrace?

    /// `trace` is nil for a request of its own, which gets a new one where somebody observes.
    init(_ request: ImageRequest, _ defaults: RequestDefaults, trace: RequestTrace? = nil) {
        self.trace = trace ?? defaults.trace(request)
        self.defaults = defaults
        self.request = request
        // Each by itself: a copy of the configuration is dear.
        transformers = ProcessedForm.appended(
            to: request.applied ?? defaults.transformers(of: request), request, defaults.configuration.coders)
        policy = request.cachePolicy ?? defaults.configuration.cachePolicy
        limits = request.limits ?? defaults.configuration.limits
        now = defaults.configuration.now()
        asked = .now
        keys = RequestKeys(
            request, source: defaults.source(of: request), identities: defaults.identities(of: request))
    }

    /// The same plan under another policy.
    init(_ plan: RequestPlan, policy: CachePolicy) {
        request = plan.request
        keys = plan.keys
        transformers = plan.transformers
        self.policy = policy
        limits = plan.limits
        now = plan.now
        asked = plan.asked
        defaults = plan.defaults
        trace = plan.trace
    }

    /// What decodes.
    var coders: CoderRegistry { request.coder.map { CoderRegistry(only: $0) } ?? defaults.configuration.coders }

    /// Where pictures are kept.
    var cache: ImageCache { request.cache ?? defaults.cache }

    /// Where original bytes are kept.
    var originalCache: ImageCache {
        request.originalCache ?? request.cache ?? defaults.configuration.originalCache ?? defaults.cache
    }

    /// Files and data URLs are at hand already: a copy on disk would only double them.
    var isOnThisMachine: Bool { request.source.isOnThisMachine }
}

/// What requests leave to the configuration. One object for all plans of a manager: copying the configuration into
/// each would cost more than a look into memory.
final class RequestDefaults: Sendable {
    let configuration: ImageManagerConfiguration
    let cache: ImageCache
    /// Identities of the transformers of requests that name none.
    private let identities: [String]
    private let observers: [any ImageEventsObserver]
    private let spans = SpanCounter()

    init(_ configuration: ImageManagerConfiguration, cache: ImageCache) {
        self.configuration = configuration
        self.cache = cache
        identities = configuration.transformers.map(\.identity)
        observers = configuration.observers
    }

    fileprivate func trace(_ request: ImageRequest) -> RequestTrace? {
        observers.isEmpty ? nil : RequestTrace(observers, spans, request.url)
    }

    /// The transformers of a request that names none.
    func transformers(of request: ImageRequest) -> [any ImageTransformer] {
        let all = configuration.transformers
        return request.transformsAnimation || all.isEmpty ? all : all.map { $0.applied(toFrames: false) }
    }

    /// Identities of the transformers of `request`.
    func identities(of request: ImageRequest) -> [String] {
        if let own = request.identities { return ProcessedForm.appended(to: own, request) }
        let all =
            request.transformsAnimation || identities.isEmpty
            ? identities : transformers(of: request).map(\.identity)
        return ProcessedForm.appended(to: all, request)
    }

    /// What identifies the bytes that `request` asks for.
    func source(of request: ImageRequest) -> String {
        request.key ?? configuration.key?(request.url) ?? request.source.identity(of: request.url)
    }

    /// Digest of the key under which memory has the answer to `request`.
    func digest(of request: ImageRequest) -> CacheKey.Digest {
        RequestKeys.digest(request, source: source(of: request), identities: identities(of: request))
    }

    /// What the cache does where HTTP leaves it a choice.
    var http: HTTPCachePolicy { configuration.cache.http }
}
