// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The defaults that the configuration provides for requests. All plans of a manager share one object because copying
/// the configuration into each plan would take longer than a memory lookup.
final class RequestDefaults: Sendable {
    let configuration: ImageManager.Configuration
    let cache: ImageCache
    let settings: LiveSettings
    let files = FileVersions()
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

    func trace(_ request: ImageRequest) -> ObserverNotifier? {
        observers.isEmpty ? nil : ObserverNotifier(observers, spans, request.url)
    }

    func transformers(of request: ImageRequest) -> [any ImageTransformer] {
        let all = configuration.transformers
        return request.transformsAnimations || all.isEmpty ? all : all.map { $0.applied(toFrames: false) }
    }

    func identities(of request: ImageRequest) -> [String] {
        if let own = request.identities { return ProcessedForm.appended(to: own, request) }
        let all =
            request.transformsAnimations || identities.isEmpty
            ? identities : transformers(of: request).map(\.identifier)
        return ProcessedForm.appended(to: all, request)
    }

    /// This method never reads the file system. `changed` is the identity of the changed header fields, or `nil` for
    /// none.
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

    func digest(of request: ImageRequest) -> CacheKey.Digest {
        RequestKeys.digest(
            request, source: source(of: request, changed: settings.headerIdentity),
            identities: identities(of: request))
    }

    /// Returns whether `url` can be loaded instead of another URL.
    func allowsScheme(of url: URL) -> Bool { url.hasScheme(in: schemes) }

    /// If the request has a custom loader or creates its image, its URL is only a name and can have any scheme.
    func checkScheme(of request: ImageRequest) throws(ImageError) {
        guard request.loader == nil, request.maker == nil, !allowsScheme(of: request.url) else { return }
        throw .request(.unsupportedScheme(request.url.scheme?.lowercased() ?? ""))
    }

    var httpCachePolicy: HTTPCachePolicy { configuration.httpCachePolicy }
}
