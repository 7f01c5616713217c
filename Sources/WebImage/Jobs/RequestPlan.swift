// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// A request with everything filled in that it left to the configuration, and its keys.
struct RequestPlan: Sendable {
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

    init(_ request: ImageRequest, _ defaults: RequestDefaults) {
        let configuration = defaults.configuration
        self.defaults = defaults
        self.request = request
        transformers = request.transformers ?? configuration.transformers
        policy = request.cachePolicy ?? configuration.cachePolicy
        limits = request.limits ?? configuration.limits
        now = configuration.now()
        asked = .now
        let source = request.key ?? configuration.key?(request.url) ?? SourceIdentity.of(request.url)
        keys = RequestKeys(request, source: source, transformers: transformers)
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
    var isOnThisMachine: Bool { ["file", "data"].contains(request.url.scheme?.lowercased() ?? "") }
}

/// What requests leave to the configuration. One object for all plans of a manager: copying the configuration into
/// each would cost more than a look into memory.
final class RequestDefaults: Sendable {
    let configuration: ImageManagerConfiguration
    let cache: ImageCache

    init(_ configuration: ImageManagerConfiguration, cache: ImageCache) {
        self.configuration = configuration
        self.cache = cache
    }

    /// What the cache does where HTTP leaves it a choice.
    var http: HTTPCachePolicy { configuration.cache.http }
}

/// What identifies the bytes behind a URL.
package enum SourceIdentity {
    /// The URL without its fragment; for files their size and time of change too, so that an edited file is another
    /// source.
    package static func of(_ url: URL) -> String {
        guard url.isFileURL else {
            let text = url.absoluteString
            return text.firstIndex(of: "#").map { String(text[..<$0]) } ?? text
        }
        var status = stat()
        guard stat(url.path, &status) == 0 else { return url.absoluteString }
        return "\(url.absoluteString)|\(status.st_size)|\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }
}
