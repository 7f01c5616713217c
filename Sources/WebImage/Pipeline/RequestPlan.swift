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
    /// The time at which freshness is evaluated.
    let now: Date
    let createdAt: ContinuousClock.Instant
    let defaults: RequestDefaults
    /// The trace for the observers, or `nil` if there are none.
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

    /// Creates a plan for a changed request to the same source, with the keys and the transformers of that request.
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

    /// Creates a verified plan with other decoding options and the same data.
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

    /// Applies the current settings to the request, because it starts now.
    func captureSettings() { _ = settings }

    /// The request of the caller, for interceptors and tasks.
    var callerRequest: ImageRequest { restricted ?? request }

    /// Whether ``verified()`` must be called before the request runs.
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

    /// The coders of the manager, for encoding and for stored encodings.
    var registeredCoders: ImageCoderRegistry {
        // Alternatives can come from the network, even if the first source is a file.
        isLocal && request.network.alternativeURLs.isEmpty ? settings.working.local : settings.working.network
    }

    /// The cache for processed images.
    var cache: ImageCache { request.caching.cache ?? defaults.cache }

    var originalCache: ImageCache {
        request.caching.originalCache ?? request.caching.cache ?? defaults.configuration.originalCache ?? defaults.cache
    }

    /// All caches in which the request can store data.
    var caches: [ImageCache] { cache === originalCache ? [cache] : [cache, originalCache] }

    /// Whether the source is a file, a data URL, or in memory. Storing such data on disk would only duplicate it.
    var isLocal: Bool { request.source.isOnThisMachine }
}

/// The defaults that the configuration provides for requests. All plans of a manager share one object because copying
/// the configuration into each plan would take longer than a memory lookup.
final class RequestDefaults: Sendable {
    let configuration: ImageManager.Configuration
    let cache: ImageCache
    let settings: LiveSettings
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
    /// The responses that the manager received, revalidated, or prefetched.
    let recentResponses = RecentResponses()
    /// The ``ImageManager/Configuration/revalidationInterval`` in seconds, which isn't negative.
    let revalidationInterval: Double

    /// Creates the defaults. If `settings` is `nil`, the settings of the configuration apply without built-in loaders.
    init(_ configuration: ImageManager.Configuration, cache: ImageCache, settings: LiveSettings? = nil) {
        let rules = settings == nil ? ExchangeRules(configuration.downloader) : nil
        self.settings =
            settings
            ?? LiveSettings(configuration, builtIn: []) { rules ?? ExchangeRules(configuration.downloader) }
        freshnessPolicy = SharedHTTPCachePolicy(configuration.httpCachePolicy)
        revalidationInterval = max(0, configuration.revalidationInterval / .seconds(1))
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
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - changed: The identity of the changed header fields with which the request is sent, or `nil` for none.
    func source(of request: ImageRequest, changed: String?) -> RequestKeys.Source {
        let access = access(
            of: request, to: request.url, changed: request.source.isOnThisMachine ? nil : changed)
        if let key = request.applicationKey(configuration.makeCacheKey) {
            return RequestKeys.Source(text: key, access: access)
        }
        guard request.source.isFile else { return RequestKeys.Source(text: request.source.text, access: access) }
        return RequestKeys.Source(text: files.knownIdentity(of: request.source), isUnverifiedFile: true)
    }

    /// Returns a hash of the options, the cookies, the credentials, and the changed header fields with which a request
    /// contacts a URL, or `nil` if there are none.
    func access(of request: ImageRequest, to url: URL, changed: String?) -> String? {
        let access = request.network.cacheKeyPart(
            for: url, defaultCookies: defaultCookies, defaultCredentials: defaultCredentials)
        guard let changed else { return access }
        return CacheKey([access ?? "", "headers", changed]).fileName
    }

    /// Returns the digest of the memory key of `request`.
    func digest(of request: ImageRequest) -> CacheKey.Digest {
        RequestKeys.digest(
            request, source: source(of: request, changed: settings.headerIdentity),
            identities: identities(of: request))
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

/// The HTTP caching rules for this request and known data. ``CacheAction`` and ``RevalidationResult`` make every
/// decision. Data without a response head (for example, from a custom loader) is always fresh and can always be stored.
extension RequestPlan {
    /// The header fields that are sent, for the selection of variants. They're computed on demand because few responses
    /// vary.
    var selectingHeaders: HTTPHeaderFields { settings.rules.sent(request.headers).withHashedSecrets }

    /// The header fields that separate responses in addition to those that Vary names. Header fields that are part of
    /// the key separate responses already.
    var separating: [String] {
        guard defaults.http.separatesCredentials else { return [] }
        return ["authorization", "cookie"].filter { !request.isKeyHeader($0) }
    }

    /// Returns whether the stored response matches the request according to Vary (RFC 9111 4.1).
    func selects(_ head: StoredResponseHead) -> Bool { !head.isNegotiated || head.matches(selectingHeaders) }

    /// Returns whether the data can serve the request, which is the case unless other header fields selected it.
    func selects(_ originalInfo: OriginalInfo) -> Bool {
        guard originalInfo.isNegotiated, let head = originalInfo.head else { return true }
        return selects(head)
    }

    /// Returns whether the image can serve the request, which is the case unless other header fields selected it.
    func selects(_ image: DecodedImage) -> Bool {
        guard let originalInfo = image.originalInfo else { return true }
        return selects(originalInfo)
    }

    /// Returns whether this request would have received the same response as another request just now.
    func accepts(_ originalInfo: OriginalInfo) -> Bool {
        guard let head = originalInfo.head, head.isNegotiated else { return true }
        return !head.differs(from: selectingHeaders)
    }

    /// The cache mode of ``policy``, as the Fetch standard defines it.
    private var mode: HTTPCacheMode {
        switch policy {
        case .http: .default
        case .cacheFirst: .forceCache
        case .refresh: .noCache
        case .reload: .reload
        case .cacheOnly: .onlyIfCached
        }
    }

    private var head: RequestHead { RequestHead(headers: request.headers) }

    /// The next step if nothing is cached.
    var stepWithoutStored: CacheAction { CacheAction.make(head, mode: mode, stored: nil, now: now) }

    /// Returns the next step for known data. `originalInfo` is `nil` for an image without a record.
    func step(for originalInfo: OriginalInfo?) -> CacheAction { decision(for: originalInfo).step }

    /// Returns the next step for known data that may be delivered. `originalInfo` is `nil` for an image without a
    /// record.
    func decision(for originalInfo: OriginalInfo?) -> CacheDecision {
        switch policy {
        case .cacheFirst, .cacheOnly: return CacheDecision(step: .use)
        case .reload: return CacheDecision(step: stepWithoutStored)
        case .refresh:
            // Revalidate `immutable` responses too, because the caller explicitly requests it.
            guard let head = originalInfo?.head, selects(head) else { return CacheDecision(step: stepWithoutStored) }
            return CacheDecision(step: CacheAction.confirmation(of: head, for: self.head, mode: mode))
        case .http: break
        }
        guard let originalInfo else { return CacheDecision(step: .use) }
        // Check this before reading the response head, because every memory hit takes this path.
        if isKnownFresh(originalInfo) { return CacheDecision(step: .use) }
        guard let head = originalInfo.head else { return CacheDecision(step: .use) }
        guard selects(head) else { return CacheDecision(step: stepWithoutStored) }
        let step = CacheAction.make(self.head, mode: mode, stored: head, policy: defaults.http, now: now)
        return decision(step, for: originalInfo, head, isPlain: request.headers.lines.isEmpty)
    }

    /// Returns whether an earlier request determined that the data is fresh for every request without header fields. If
    /// so, the data serves this request, and no rule must be evaluated.
    func isKnownFresh(_ originalInfo: OriginalInfo) -> Bool {
        policy == .http && request.headers.lines.isEmpty && originalInfo.isKnownFresh(at: now, by: defaults)
    }

    /// Returns the outcome of `event`, which is the server's response to `step`.
    func outcome(_ event: RevalidationResult.ServerResult, of step: CacheAction, stored: OriginalInfo?)
        -> RevalidationResult
    {
        let head = stored?.head.flatMap { selects($0) ? $0 : nil }
        return RevalidationResult.make(
            event, request: self.head, step: step, mode: mode, stored: head, policy: defaults.http, now: now)
    }

    /// Returns whether the data is fresh, or stale to a degree that the request accepts (RFC 9111 4).
    func isFresh(_ originalInfo: OriginalInfo) -> Bool {
        guard let head = originalInfo.head else { return true }
        guard selects(head) else { return false }
        switch head.decision(for: request.headers, now: now, policy: defaults.http) {
        case .fresh: return true
        case .stale(let staleness): return staleness.isAccepted
        case .mustRevalidate: return false
        }
    }

    /// Returns whether known data can replace a response that failed with `error` (RFC 9111 4.2.4, RFC 5861 4).
    func usesStale(_ originalInfo: OriginalInfo, insteadOf error: ImageError) -> Bool {
        if policy == .refresh { return true }
        guard case .network(let failure) = error else { return false }
        guard let head = originalInfo.head else { return true }
        guard selects(head) else { return false }
        let step = step(for: originalInfo)
        if step == .use { return true }
        let event: RevalidationResult.ServerResult
        if failure.reason == .unacceptableStatusCode {
            event = .response(HTTPResponseHead(statusCode: failure.statusCode ?? 0))
        } else if failure.isUnreachable {
            event = .unreachable
        } else {
            return false
        }
        return outcome(event, of: step, stored: originalInfo) == .useStale
    }

    /// Returns whether a private cache can store the data and images made from it (RFC 9111 3).
    func allowsStoring(_ originalInfo: OriginalInfo) -> Bool {
        guard !originalInfo.isSubstitute else { return false }
        guard let head = originalInfo.head else { return true }
        return StoredResponseHead.isStorable(method: "GET", request: request.headers, response: head.head)
    }
}

extension CacheAction {
    /// Whether known data serves the request without waiting for the server.
    var servesRequest: Bool {
        switch self {
        case .use, .useStale: true
        case .revalidate, .fetch, .gatewayTimeout: false
        }
    }

    /// Whether known data serves the request without contacting the server.
    var needsNothing: Bool { servesRequest && !revalidatesInBackground }

    /// Whether known data serves the request during a background revalidation (RFC 5861 3).
    var revalidatesInBackground: Bool { self == .useStale(revalidatesInBackground: true) }
}

extension OriginalInfo {
    /// Merges a 304 response for this data and returns the resulting head.
    func confirm(with notModified: StoredResponseHead, _ plan: RequestPlan) -> StoredResponseHead {
        guard let known = head else { return notModified }
        var merged = known.merging(
            notModified: notModified.head, requestTime: notModified.requestTime,
            responseTime: notModified.responseTime)
        merged.varyHeaders = StoredResponseHead.selectingHeaders(
            request: plan.selectingHeaders, response: merged.head.headers, separating: plan.separating)
        merged.limitFreshness(likeNotModified: notModified)
        update(head: merged)
        return merged
    }
}

/// The most recently read versions of files.
///
/// A file can change without changing its name, so its size and modification time are part of its key. Reading them can
/// block for a long time on a remote file system, so it never happens on a caller's thread. This class is thread-safe.
final class FileVersions: Sendable {
    /// The maximum number of recorded versions. When it's reached, all are removed.
    private static let limit = 4_096

    private let known = Lock<[String: String]>([:])
    private let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.name = "webimage.file-versions"
        queue.maxConcurrentOperationCount = 4
        return queue
    }()

    /// Returns the identity that was read last, or the URL if none was read. This method never blocks.
    func knownIdentity(of source: SourceKind) -> String {
        known.withLock { $0[source.text] } ?? source.text
    }

    /// Reads the current identity on a thread for blocking work.
    func readIdentity(of url: URL, _ source: SourceKind) async -> String {
        let identity = await withCheckedContinuation { continuation in
            queue.addOperation { continuation.resume(returning: source.identity(of: url)) }
        }
        known.withLock { known in
            if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
            known[source.text] = identity
        }
        return identity
    }
}
