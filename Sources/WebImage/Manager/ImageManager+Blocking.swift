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
        let plan = RequestPlan(engine.prepared(request), engine.defaults)
        let reads = tiers.intersection(plan.request.originalReads).subtracting(.memory)
        let cache = plan.originalCache
        let key = plan.keys.data
        guard !reads.isEmpty, !plan.isOnThisMachine, cache.mayContain(key, in: reads) else { return nil }
        let selecting = plan.selecting
        guard let entry = waitingFor({ await cache.entry(for: key, matching: selecting, in: reads)?.entry }) else {
            return nil
        }
        return try? engine.picture(of: entry, plan)
    }
}

extension Engine {
    /// The final picture of a stored entry, made on the calling thread.
    fileprivate func picture(of entry: DiskEntry, _ plan: RequestPlan) throws(ImageError) -> Image {
        let resource = resources.record(for: plan.keys.data, entry.payload, head: entry.head)
        let context = CodingContext(limits: plan.limits)
        var image = try plan.coders.decode(entry.payload, options: plan.request.hintedOptions, context: context)
            .with(provenance: resource)
        for transformer in plan.transformers {
            image = try transformer.apply(
                to: image, context: TransformContext(scale: plan.request.scale, coding: context))
            try plan.limits.check(result: image)
        }
        remember(image, plan)
        return image
    }
}
