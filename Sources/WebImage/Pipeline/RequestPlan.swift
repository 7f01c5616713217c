// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// A request with its defaults filled in from the configuration, and its keys. A class: every stage holds it, and
/// copying the request would cost more than most stages do.
final class RequestPlan: Sendable {
    let request: ImageRequest
    let keys: RequestKeys
    let transformers: [any ImageTransformer]
    let policy: CachePolicy
    let limits: Limits
    /// The time at which freshness is evaluated.
    let now: Date
    /// When the request was made.
    let asked: ContinuousClock.Instant
    let defaults: RequestDefaults
    /// Reports to the observers; nil when there are none.
    let trace: RequestTrace?
    /// Whether the key contains the version of a file that has not been read from the file system yet.
    let needsFileVersion: Bool

    /// Creates the plan of `request` without touching the file system: the key of a file contains the version that
    /// was read last. `trace` is nil for a request of its own, which gets a new one when there are observers.
    convenience init(_ request: ImageRequest, _ defaults: RequestDefaults, trace: RequestTrace? = nil) {
        let source = defaults.source(of: request)
        self.init(
            request, defaults, source: source, trace: trace ?? defaults.trace(request))
    }

    private init(
        _ request: ImageRequest, _ defaults: RequestDefaults, source: RequestKeys.Source, trace: RequestTrace?
    ) {
        self.trace = trace
        self.defaults = defaults
        self.request = request
        needsFileVersion = source.isUnverifiedFile
        // Each by itself: a copy of the configuration is expensive.
        let transformers = request.applied ?? defaults.transformers(of: request)
        self.transformers =
            request.storeFinal == .never
            ? transformers : ProcessedForm.appended(to: transformers, request, defaults.configuration.coders)
        policy = request.cachePolicy ?? defaults.configuration.cachePolicy
        limits = request.limits ?? defaults.configuration.limits
        now = defaults.configuration.now()
        asked = .now
        keys = RequestKeys(request, source: source, identities: defaults.identities(of: request))
    }

    /// The same plan with another request that has the same keys: other policy, priority, or data wishes.
    init(_ plan: RequestPlan, changing change: (inout ImageRequest) -> Void) {
        var request = plan.request
        change(&request)
        self.request = request
        keys = plan.keys
        transformers = plan.transformers
        policy = request.cachePolicy ?? plan.policy
        limits = plan.limits
        now = plan.now
        asked = plan.asked
        defaults = plan.defaults
        trace = plan.trace
        needsFileVersion = plan.needsFileVersion
    }

    /// This plan with the present version of its file in the key. Reads the file system on a thread for blocking work.
    func verified() async -> RequestPlan {
        guard needsFileVersion else { return self }
        let source = await defaults.files.readIdentity(of: request.url, request.source)
        return RequestPlan(request, defaults, source: RequestKeys.Source(text: source), trace: trace)
    }

    /// The coders that decode.
    var coders: CoderRegistry { request.coder.map { CoderRegistry(only: $0) } ?? defaults.configuration.coders }

    /// Where processed images are cached.
    var cache: ImageCache { request.cache ?? defaults.cache }

    /// Where original bytes are cached.
    var originalCache: ImageCache {
        request.originalCache ?? request.cache ?? defaults.configuration.originalCache ?? defaults.cache
    }

    /// All caches that the request may store in.
    var caches: [ImageCache] { cache === originalCache ? [cache] : [cache, originalCache] }

    /// Files, data URLs, and memory are local already: a copy on disk would only double them.
    var isLocal: Bool { request.source.isOnThisMachine }
}

/// What requests leave to the configuration. One object for all plans of a manager: copying the configuration into
/// each plan would cost more than a memory lookup.
final class RequestDefaults: Sendable {
    let configuration: ImageManagerConfiguration
    let cache: ImageCache
    let files = FileVersions()
    /// Identities of the transformers of requests that name none.
    private let identities: [String]
    private let defaultCookies: CookieJar?
    private let defaultCredentials: CredentialStore?
    private let observers: [any ImageEventsObserver]
    private let spans = SpanCounter()

    init(_ configuration: ImageManagerConfiguration, cache: ImageCache) {
        self.configuration = configuration
        self.cache = cache
        identities = configuration.transformers.map(\.identity)
        defaultCookies = configuration.downloader.cookies.jar
        defaultCredentials = configuration.downloader.credentials
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

    /// What identifies the bytes of `request`. Never reads the file system.
    func source(of request: ImageRequest) -> RequestKeys.Source {
        let access = request.network.cacheKeyPart(
            for: request.url, defaultCookies: defaultCookies, defaultCredentials: defaultCredentials)
        if let key = request.key ?? configuration.key?(request.url) {
            return RequestKeys.Source(text: key, access: access)
        }
        guard request.source.isFile else { return RequestKeys.Source(text: request.source.text, access: access) }
        return RequestKeys.Source(text: files.knownIdentity(of: request.source), isUnverifiedFile: true)
    }

    /// Digest of the key under which memory has the image of `request`.
    func digest(of request: ImageRequest) -> CacheKey.Digest {
        RequestKeys.digest(request, source: source(of: request), identities: identities(of: request))
    }

    /// What the cache does where HTTP leaves it a choice.
    var http: HTTPCachePolicy { configuration.cache.http }
}
