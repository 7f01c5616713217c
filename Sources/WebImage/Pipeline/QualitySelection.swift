// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageStore

/// The selection of one of the URLs of a request with ``ImageRequest/lowerQuality``.
struct QualitySelection {
    let request: ImageRequest
    /// The requests for higher qualities that a tier other than memory may contain, beginning with the highest quality.
    /// One that is stored replaces the selected one.
    let better: [ImageRequest]

    /// Selects a quality by the network conditions and the memory cache, without accessing the file system.
    init(_ request: ImageRequest, _ defaults: RequestDefaults, isPrefetch: Bool) {
        let policy = request.cachePolicy ?? defaults.configuration.cachePolicy
        let conditions = defaults.configuration.networkConditions
        let options = request.lowerQuality
        let position =
            policy.mayContactServer
            ? options.position(isMetered: conditions.isMetered, throughput: conditions.throughput)
            : options.urls.count
        var better: [ImageRequest] = []
        if request.mayBeCached, policy.usesUnconfirmed {
            for candidate in (0..<position).lazy.map(request.quality) {
                let plan = RequestPlan(candidate, defaults, isPrefetch: isPrefetch)
                if !request.includesOriginalData, let hit = MemoryStage().hit(plan), hit.step.needsNothing {
                    self.request = candidate
                    self.better = better
                    return
                }
                if plan.mayBeStored { better.append(candidate) }
            }
        }
        self.request = request.quality(at: position)
        self.better = better
    }
}

extension RequestPlan {
    /// Whether a tier other than memory may contain the image. This property performs no I/O.
    var mayBeStored: Bool {
        let caching = request.caching
        guard !isLocal else { return false }
        if originalCache.mayContain(keys.data, in: caching.originalReadFrom) { return true }
        return caching.processedEncoding != nil && cache.mayContain(processedKey, in: caching.readFrom)
    }

    /// Returns whether a tier other than memory serves the request without contacting the server.
    func isStored() async -> Bool {
        guard mayBeStored else { return false }
        let caching = request.caching
        if await serves(keys.data, in: originalCache, caching.originalReadFrom) { return true }
        guard caching.processedEncoding != nil, !request.includesOriginalData else { return false }
        return await serves(processedKey, in: cache, caching.readFrom)
    }

    private func serves(_ key: CacheKey, in cache: ImageCache, _ tiers: ImageCache.Tiers) async -> Bool {
        guard cache.mayContain(key, in: tiers),
            let found = await cache.entry(for: key, matching: http.selectingHeaders, in: tiers)
        else { return false }
        // The decision depends only on the response head, so the digest of the data isn't necessary.
        let head = OriginalInfo(digest: ContentDigest(of: Data()), byteCount: 0, head: found.entry.head)
        return http.step(for: head).needsNothing
    }
}

extension ImagePipeline {
    /// The plans begin with the highest quality. The modifier of the configuration has changed their requests.
    func plans(_ request: ImageRequest) -> [RequestPlan] {
        interceptors.prepared(request).qualities.map { RequestPlan($0, defaults) }
    }
}
