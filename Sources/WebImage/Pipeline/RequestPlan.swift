// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// A request with its keys and the defaults from the configuration. It's a class because every stage retains it.
final class RequestPlan: Sendable {
    let request: ImageRequest
    /// The request of the caller if ``request`` doesn't use the caches because of its method or has one of several
    /// qualities, or `nil` if both are equal.
    private let restricted: ImageRequest?
    let keys: RequestKeys
    let transformers: [any ImageTransformer]
    let policy: CachePolicy
    let limits: ImageLimits
    let now: Date
    let createdAt: ContinuousClock.Instant
    let defaults: RequestDefaults
    let trace: ObserverNotifier?
    /// Whether the version of a file in the key must still be read from the file system.
    let needsFileVersion: Bool
    /// The requests for higher qualities to look up in tiers other than memory, beginning with the highest quality.
    private let better: [ImageRequest]
    /// Whether the request is a prefetch, which doesn't use prefetched responses.
    let isPrefetch: Bool
    private let captured = AtomicLazyReference<SettingsSnapshot>()

    /// Creates the plan of `request` without accessing the file system. The key of a file contains the version that was
    /// read last. If `trace` is `nil`, the plan gets a new trace if there are observers.
    /// If `settings` is `nil`, the current settings apply when the plan first needs them.
    convenience init(
        _ request: ImageRequest, _ defaults: RequestDefaults, trace: ObserverNotifier? = nil,
        settings: SettingsSnapshot? = nil, isPrefetch: Bool = false
    ) {
        // The key and the header fields to send must belong together.
        let settings = settings ?? (defaults.settings.headerIdentity == nil ? nil : defaults.settings.current)
        let changed = settings?.rules.headerIdentity
        if request.hasLowerQualities {
            let selection = QualitySelection(request, defaults, isPrefetch: isPrefetch)
            let source = defaults.source(of: selection.request, changed: changed)
            self.init(
                selection.request, of: request, better: selection.better, defaults, source: source,
                trace: trace ?? defaults.trace(selection.request), settings: settings, isPrefetch: isPrefetch)
        } else {
            let source = defaults.source(of: request, changed: changed)
            self.init(
                request, of: nil, defaults, source: source, trace: trace ?? defaults.trace(request),
                settings: settings, isPrefetch: isPrefetch)
        }
    }

    /// Creates the plan of a request. `caller` is the request of the caller if it differs from `chosen`.
    private init(
        _ chosen: ImageRequest, of caller: ImageRequest?, better: [ImageRequest] = [], _ defaults: RequestDefaults,
        source: RequestKeys.Source, trace: ObserverNotifier?, settings: SettingsSnapshot?, isPrefetch: Bool
    ) {
        let isCached = chosen.mayBeCached
        let request =
            isCached ? chosen : chosen.withoutCaches(defaultPolicy: defaults.configuration.cachePolicy)
        restricted = caller ?? (isCached ? nil : chosen)
        self.better = better
        self.trace = trace
        self.defaults = defaults
        needsFileVersion = source.isUnverifiedFile
        // Access the properties individually because copying the configuration is expensive.
        let transformers = request.applied ?? defaults.transformers(of: request)
        var settings = settings
        if request.caching.processedEncoding == nil {
            self.transformers = transformers
        } else {
            let current = settings ?? defaults.settings.currentWithoutHeaderIdentity
            settings = current
            self.transformers = ProcessedForm.appended(to: transformers, request, current.coders)
        }
        policy = request.cachePolicy ?? defaults.configuration.cachePolicy
        limits = request.limits ?? defaults.configuration.limits
        now = defaults.configuration.now()
        createdAt = .now
        keys = RequestKeys(request, source: source, identities: defaults.identities(of: request))
        self.isPrefetch = isPrefetch
        self.request = request
        if let settings { _ = captured.storeIfNil(settings) }
    }

    /// Creates a plan for a changed request with the same keys. The change can affect the policy, the priority, and the
    /// requested data. `isVerified` indicates that the tiers don't contain a higher quality.
    convenience init(
        _ plan: RequestPlan, isVerified: Bool = false, changing change: (inout ImageRequest) -> Void
    ) {
        self.init(
            plan, better: isVerified ? [] : plan.better, keys: plan.keys, transformers: plan.transformers,
            changing: change)
    }

    private init(
        _ plan: RequestPlan, better: [ImageRequest], keys: RequestKeys, transformers: [any ImageTransformer],
        changing change: (inout ImageRequest) -> Void
    ) {
        var request = plan.request
        change(&request)
        var restricted = plan.restricted
        if var original = restricted {
            change(&original)
            restricted = original
        }
        self.request = request
        self.restricted = restricted
        self.better = better
        self.keys = keys
        self.transformers = transformers
        policy = request.cachePolicy ?? plan.policy
        limits = plan.limits
        now = plan.now
        createdAt = plan.createdAt
        defaults = plan.defaults
        trace = plan.trace
        needsFileVersion = plan.needsFileVersion
        isPrefetch = plan.isPrefetch
        if let settings = plan.captured.load() { _ = captured.storeIfNil(settings) }
    }

    /// Returns the plan of the request whose image has the colors that `encoding` needs, which is this plan if they're
    /// those of its image. Call this method after ``verified()``.
    func preparing(for encoding: ImageEncoding) -> RequestPlan {
        let decoding = request.decoding.preparing(
            for: encoding, after: request.applied ?? defaults.transformers(of: request))
        return decoding == request.decoding ? self : RequestPlan(self, decoding: decoding)
    }

    private convenience init(_ plan: RequestPlan, decoding: ImageDecodingOptions) {
        var request = plan.request
        request.decoding = decoding
        let transformers = request.applied ?? plan.defaults.transformers(of: request)
        self.init(
            plan, better: [], keys: RequestKeys(plan.keys, request, identities: plan.defaults.identities(of: request)),
            transformers: ProcessedForm.appended(to: transformers, request, plan.settings.coders)
        ) { $0.decoding = decoding }
    }

    /// The settings of the request. Memory hits don't need them, so they're read only on demand.
    var settings: SettingsSnapshot {
        captured.load() ?? captured.storeIfNil(defaults.settings.currentWithoutHeaderIdentity)
    }

    func captureSettings() { _ = settings }

    /// The request of the caller, for interceptors and tasks.
    var callerRequest: ImageRequest { restricted ?? request }

    var needsVerification: Bool { needsFileVersion || !better.isEmpty }

    /// Returns this plan with the current version of its file in the key, or the plan for a higher quality that is
    /// stored. The version is read on a thread for blocking work.
    func verified() async -> RequestPlan {
        let changed = settings.rules.headerIdentity
        for request in better {
            let plan = RequestPlan(
                request, of: callerRequest, defaults, source: defaults.source(of: request, changed: changed),
                trace: trace, settings: settings, isPrefetch: isPrefetch)
            if await plan.isStored() { return plan }
        }
        guard needsFileVersion else { return better.isEmpty ? self : RequestPlan(self, isVerified: true) { _ in } }
        let source = await defaults.files.readIdentity(of: request.url, request.source)
        return RequestPlan(
            request, of: restricted, defaults, source: RequestKeys.Source(text: source), trace: trace,
            settings: captured.load(), isPrefetch: isPrefetch)
    }

    var coders: ImageCoderRegistry { request.coder.map { ImageCoderRegistry(only: $0) } ?? registeredCoders }

    var registeredCoders: ImageCoderRegistry {
        // Alternatives can come from the network, even if the first source is a file.
        isLocal && request.network.alternativeURLs.isEmpty ? settings.working.local : settings.working.network
    }

    var cache: ImageCache { request.caching.cache ?? defaults.cache }

    var originalCache: ImageCache {
        request.caching.originalCache ?? request.caching.cache ?? defaults.configuration.originalCache ?? defaults.cache
    }

    var caches: [ImageCache] { cache === originalCache ? [cache] : [cache, originalCache] }

    var http: HTTPRules { HTTPRules(self) }

    /// Whether the source is a file, a data URL, or in memory. Storing such data on disk would only duplicate it.
    var isLocal: Bool { request.source.isOnThisMachine }
}
