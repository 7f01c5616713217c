// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// Images and data that the application stores for a request.
extension ImagePipeline {
    /// Original data that the application supplies, after its check.
    private struct SuppliedData: Sendable {
        let data: Data
        let originalInfo: OriginalInfo
        let probe: ImageInfo?
    }

    /// Throws an ``ImageError`` if the data isn't valid, if the image can't be encoded, or if the data is missing.
    func insert(
        _ image: DecodedImage?, data: Data?, _ plan: RequestPlan, in tiers: ImageCache.Tiers
    ) async throws(ImageError) {
        // The tiers of the caller replace those of the request.
        let plan = RequestPlan(plan) { request in
            request.caching.writeTo = tiers
            request.caching.originalWriteTo = tiers
        }
        let supplied = try await supplied(image, data, plan, tiers.subtracting(.memory))
        if let image { try plan.limits.check(result: image) }
        let finished = try await finished(image, supplied?.originalInfo, plan)
        if let supplied, !plan.isLocal { await replace(supplied, plan, in: tiers.subtracting(.memory)) }
        if let finished {
            let generation = plan.cache.generation(of: plan.keys.data)
            postprocessor(finished.image)
            memory.store(finished.image, plan, generation)
            let work = store(processed: finished.image, finished.originalInfo, of: nil, plan, generation)
            if let work { await work.value }
        }
        guard plan.request.caching.waitsUntilStored else { return }
        for cache in plan.caches { await cache.flush() }
    }

    private func supplied(
        _ image: DecodedImage?, _ data: Data?, _ plan: RequestPlan, _ tiers: ImageCache.Tiers
    ) async throws(ImageError) -> SuppliedData? {
        if let data { return try await checked(data, plan) }
        // Local data is never stored. A processed image has an entry of its own, so it needs no original data.
        guard let image, !tiers.isEmpty, !plan.isLocal, plan.request.caching.processedEncoding == nil else {
            return nil
        }
        // Later requests apply the size and the transformers to the original data, so the finished image can't be it.
        guard plan.transformers.isEmpty, plan.request.size == nil, plan.request.frames == .all else {
            throw .request(.invalidOption(name: "data", value: "nil"))
        }
        let encoded = try await encode.encode(
            image, original: nil, plan, as: .automatic, priority: SharedPriority(plan.request.priority))
        return try await checked(encoded.data, plan)
    }

    /// Checks data in the same way as downloaded data.
    private func checked(_ data: Data, _ plan: RequestPlan) async throws(ImageError) -> SuppliedData {
        let options = plan.request.hintedOptions
        return try await workers.inspect(byteCount: data.count, limits: plan.limits) {
            [originalInfos] context throws(ImageError) -> SuppliedData in
            // Requests for other sizes can use the data, so the size is checked when the image is decoded.
            let probe = try plan.coders.inspect(data, options: options, limits: context.limits, anySize: true)
            return SuppliedData(
                data: data, originalInfo: originalInfos.record(for: plan.keys.data, data, head: nil), probe: probe)
        }
    }

    private func finished(
        _ image: DecodedImage?, _ originalInfo: OriginalInfo?, _ plan: RequestPlan
    ) async throws(ImageError) -> (image: DecodedImage, originalInfo: OriginalInfo)? {
        guard let image else { return nil }
        // The image may come from another request, whose response head says nothing about this request.
        let originalInfo =
            originalInfo
            ?? OriginalInfo(digest: ContentDigest(of: Data(plan.keys.final.fileName.utf8)), byteCount: 0, head: nil)
        let recorded = image.with(provenance: originalInfo)
        guard let form = plan.transformers.last as? ProcessedForm else { return (recorded, originalInfo) }
        let formed = try await workers.run(
            cost: image.pixels.byteCount, priority: SharedPriority(plan.request.priority), limits: plan.limits
        ) { context throws(ImageError) -> DecodedImage in
            try form.apply(to: recorded, context: context).with(provenance: originalInfo)
        }
        return (formed, originalInfo)
    }

    /// Replaces the original data of the request and removes everything that was made from earlier data.
    private func replace(_ supplied: SuppliedData, _ plan: RequestPlan, in tiers: ImageCache.Tiers) async {
        guard !tiers.isEmpty else { return }
        // Requests that are running must not replace the new data and images with older ones.
        await plan.removing {
            plan.cache.removeAllFromMemory(of: plan.keys.data)
            failures.memory.remove(plan.keys.data)
            await plan.cache.removeDerived(from: plan.keys.allImages)
            // A tier that can't list its keys finds at least the processed image of this request.
            if plan.request.caching.processedEncoding != nil {
                await plan.cache.remove(plan.processedKey, matching: nil)
            }
            var entry = CacheEntry(
                key: plan.keys.data, head: supplied.originalInfo.head, probe: supplied.probe, data: supplied.data,
                tags: plan.request.caching.tags, storedAt: plan.now)
            entry.timeToLive = plan.request.caching.timeToLive
            await plan.originalCache.store(
                entry, request: plan.http.selectingHeaders, in: tiers, madeOf: plan.keys.data,
                plan.originalCache.generation(of: plan.keys.data))
        }
    }
}
