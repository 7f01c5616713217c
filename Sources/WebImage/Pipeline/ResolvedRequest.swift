// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// A request with its keys and the defaults from the configuration. It's a class because every stage retains it, and
/// copying the request would take longer than most stages.
final class ResolvedRequest: Sendable {
    let request: ImageRequest
    let keys: RequestKeys
    let transformers: [any ImageTransformer]
    let policy: CachePolicy
    let limits: ImageLimits
    /// The time at which freshness is evaluated.
    let now: Date
    /// The creation time of the request.
    let createdAt: ContinuousClock.Instant
    let defaults: RequestDefaults
    /// The trace for the observers, or `nil` if there are none.
    let trace: ObserverNotifier?
    /// A Boolean value that indicates whether the version of a file in the key must still be read from the file system.
    let needsFileVersion: Bool

    /// Creates the plan of `request` without accessing the file system. The key of a file contains the version that was
    /// read last. If `trace` is `nil`, the plan gets a new trace if there are observers.
    convenience init(_ request: ImageRequest, _ defaults: RequestDefaults, trace: ObserverNotifier? = nil) {
        let source = defaults.source(of: request)
        self.init(
            request, defaults, source: source, trace: trace ?? defaults.trace(request))
    }

    private init(
        _ request: ImageRequest, _ defaults: RequestDefaults, source: RequestKeys.Source, trace: ObserverNotifier?
    ) {
        self.trace = trace
        self.defaults = defaults
        needsFileVersion = source.isUnverifiedFile
        // Access the properties individually because copying the configuration is expensive.
        let transformers = request.applied ?? defaults.transformers(of: request)
        self.transformers =
            request.caching.processedEncoding == nil
            ? transformers : ProcessedForm.appended(to: transformers, request, defaults.configuration.coders)
        policy = request.cachePolicy ?? defaults.configuration.cachePolicy
        limits = request.limits ?? defaults.configuration.limits
        now = defaults.configuration.now()
        createdAt = .now
        keys = RequestKeys(request, source: source, identities: defaults.identities(of: request))
        // Assign the request last so that it's moved instead of copied.
        self.request = request
    }

    /// Creates a plan for a changed request with the same keys. The change can affect the policy, the priority, and the
    /// requested data.
    init(_ plan: ResolvedRequest, changing change: (inout ImageRequest) -> Void) {
        var request = plan.request
        change(&request)
        self.request = request
        keys = plan.keys
        transformers = plan.transformers
        policy = request.cachePolicy ?? plan.policy
        limits = plan.limits
        now = plan.now
        createdAt = plan.createdAt
        defaults = plan.defaults
        trace = plan.trace
        needsFileVersion = plan.needsFileVersion
    }

    /// Returns this plan with the current version of its file in the key. The version is read on a thread for blocking
    /// work.
    func verified() async -> ResolvedRequest {
        guard needsFileVersion else { return self }
        let source = await defaults.files.readIdentity(of: request.url, request.source)
        return ResolvedRequest(request, defaults, source: RequestKeys.Source(text: source), trace: trace)
    }

    /// The coders for decoding.
    var coders: ImageCoderRegistry {
        request.coder.map { ImageCoderRegistry(only: $0) } ?? defaults.configuration.coders
    }

    /// The cache for processed images.
    var cache: ImageCache { request.caching.cache ?? defaults.cache }

    /// The cache for original data.
    var originalCache: ImageCache {
        request.caching.originalCache ?? request.caching.cache ?? defaults.configuration.originalCache ?? defaults.cache
    }

    /// All caches in which the request can store data.
    var caches: [ImageCache] { cache === originalCache ? [cache] : [cache, originalCache] }

    /// A Boolean value that indicates whether the source is a file, a data URL, or in memory. Storing such data on disk
    /// would only duplicate it.
    var isLocal: Bool { request.source.isOnThisMachine }
}

/// The defaults that the configuration provides for requests. All plans of a manager share one object because copying
/// the configuration into each plan would take longer than a memory lookup.
final class RequestDefaults: Sendable {
    let configuration: ImageManager.Configuration
    let cache: ImageCache
    let files = FileVersions()
    /// The identities of the default transformers.
    private let identities: [String]
    private let defaultCookies: CookieJar?
    private let defaultCredentials: CredentialStore?
    private let schemes: Set<String>?
    private let observers: [any ImageManagerObserver]
    private let spans = SpanCounter()
    /// The choices that HTTP leaves to the cache, for responses.
    let freshnessPolicy: SharedHTTPCachePolicy

    init(_ configuration: ImageManager.Configuration, cache: ImageCache) {
        freshnessPolicy = SharedHTTPCachePolicy(configuration.httpCachePolicy)
        self.configuration = configuration
        self.cache = cache
        identities = configuration.transformers.map(\.identifier)
        defaultCookies = configuration.downloader.cookieJar.ifEnabled
        defaultCredentials = configuration.downloader.credentials
        schemes = configuration.schemes
        observers = configuration.observers
    }

    fileprivate func trace(_ request: ImageRequest) -> ObserverNotifier? {
        observers.isEmpty ? nil : ObserverNotifier(observers, spans, request.url)
    }

    /// Returns the default transformers as they apply to a request without its own transformers.
    func transformers(of request: ImageRequest) -> [any ImageTransformer] {
        let all = configuration.transformers
        return request.transformsAnimations || all.isEmpty ? all : all.map { $0.applied(toFrames: false) }
    }

    /// Returns the identities of the transformers of `request`.
    func identities(of request: ImageRequest) -> [String] {
        if let own = request.identities { return ProcessedForm.appended(to: own, request) }
        let all =
            request.transformsAnimations || identities.isEmpty
            ? identities : transformers(of: request).map(\.identifier)
        return ProcessedForm.appended(to: all, request)
    }

    /// Returns the identity of the data of `request`. This method never reads the file system.
    func source(of request: ImageRequest) -> RequestKeys.Source {
        let access = request.network.cacheKeyPart(
            for: request.url, defaultCookies: defaultCookies, defaultCredentials: defaultCredentials)
        if let key = request.caching.key ?? configuration.makeCacheKey?(request.url) {
            return RequestKeys.Source(text: key, access: access)
        }
        guard request.source.isFile else { return RequestKeys.Source(text: request.source.text, access: access) }
        return RequestKeys.Source(text: files.knownIdentity(of: request.source), isUnverifiedFile: true)
    }

    /// Returns the digest of the memory key of `request`.
    func digest(of request: ImageRequest) -> CacheKey.Digest {
        RequestKeys.digest(request, source: source(of: request), identities: identities(of: request))
    }

    /// Returns whether `url` can be loaded instead of another URL.
    func allowsScheme(of url: URL) -> Bool { url.hasScheme(in: schemes) }

    /// Checks the scheme of a request. If the request has a custom loader or creates its image, its URL is only a name
    /// and can have any scheme.
    ///
    /// - Throws: ``ImageError/RequestFailure/unsupportedScheme(_:)``.
    func checkScheme(of request: ImageRequest) throws(ImageError) {
        guard request.loader == nil, request.maker == nil, !allowsScheme(of: request.url) else { return }
        throw .request(.unsupportedScheme(request.url.scheme?.lowercased() ?? ""))
    }

    /// The choices that HTTP leaves to the cache.
    var http: HTTPCachePolicy { configuration.httpCachePolicy }
}
