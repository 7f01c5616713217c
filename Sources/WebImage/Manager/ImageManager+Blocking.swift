// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// Looks that wait, for those who must have the picture before they go on.
extension ImageManager {
    /// The picture that the caches hold for `request`, whatever its age; nil where they have none that is whole. Memory is
    /// asked first. What `tiers` names besides is read, decoded and transformed **before this returns, on the calling
    /// thread**: milliseconds to seconds in which a main thread draws nothing. Never use it in a list. The network is not
    /// asked, and what is found is kept in memory.
    ///
    /// - Parameter tiers: those that may answer, of those that the request reads.
    public func cachedImage(for request: ImageRequest, tiers: CacheTiers) -> Image? {
        if tiers.contains(.memory), let image = cachedImage(for: request) { return image }
        let plan = pipeline.plan(request)
        let reads = tiers.intersection(plan.request.originalReads).subtracting(.memory)
        let cache = plan.originalCache
        let key = plan.keys.data
        guard !reads.isEmpty, !plan.isLocal, cache.mayContain(key, in: reads) else { return nil }
        let selecting = plan.selecting
        let generation = plan.cache.generation(of: key)
        guard let entry = waitingFor({ await cache.entry(for: key, matching: selecting, in: reads)?.entry }) else {
            return nil
        }
        return try? pipeline.image(of: entry, plan, generation)
    }
}
