// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// Blocking lookups for code that needs an image before it can continue.
extension ImageManager {
    /// Returns the cached image for a request regardless of its age, and blocks the calling thread while it reads the
    /// caches.
    ///
    /// This method looks in the memory cache first. If another tier has the original data, the method reads, decodes,
    /// and transforms it **on the calling thread before it returns**. This can take from milliseconds to seconds, in
    /// which a main thread draws nothing, so never use this method in a list. The method doesn't contact the network.
    /// It stores the image that it makes in memory if ``ImageRequest/CachingOptions/writeTo`` includes memory.
    ///
    /// - Parameters:
    ///   - request: The request to look up.
    ///   - tiers: The tiers to search. Memory is searched only if ``ImageRequest/CachingOptions/readFrom`` includes it,
    ///     and other tiers only if ``ImageRequest/CachingOptions/originalReadFrom`` includes them. The default is all
    ///     tiers.
    /// - Returns: The image, or `nil` if no tier has complete data for it or if the cache policy is
    ///   ``CachePolicy/reload``.
    public func loadCachedImageSynchronously(
        for request: ImageRequest, from tiers: ImageCache.Tiers = .all
    ) -> DecodedImage? {
        if tiers.contains(.memory), let image = cachedImage(for: request) { return image }
        for plan in pipeline.plans(request) {
            if let image = readSynchronously(plan, from: tiers) { return image }
        }
        return nil
    }

    private func readSynchronously(_ plan: RequestPlan, from tiers: ImageCache.Tiers) -> DecodedImage? {
        guard plan.policy.usesCache else { return nil }
        let reads = tiers.intersection(plan.request.caching.originalReadFrom).subtracting(.memory)
        let cache = plan.originalCache
        let key = plan.keys.data
        guard !reads.isEmpty, !plan.isLocal, cache.mayContain(key, in: reads) else { return nil }
        let selecting = plan.http.selectingHeaders
        let generation = plan.cache.generation(of: key)
        guard let entry = waitingFor({ await cache.entry(for: key, matching: selecting, in: reads)?.entry }) else {
            return nil
        }
        return try? pipeline.image(of: entry, plan, generation)
    }
}
