// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

/// The second stage: original bytes, processed images, and encoded images from the cache tiers; each lookup once for
/// all who make it at the same time. A cache that fails is a miss.
final class CacheStage: Sendable {
    /// What makes two lookups of original bytes one.
    private struct Key: Hashable {
        let data: CacheKey
        let selecting: HTTPFields
        let cache: ObjectIdentifier
        let tiers: CacheTiers
        let coder: String?
        let generation: CacheGeneration
    }

    private let lookups = SharedJobs<Key, OriginalData?, Never>()
    private let workers: WorkerPool
    private let resources: ResourceTable
    private let inFlight: InFlightOriginals

    init(workers: WorkerPool, resources: ResourceTable, inFlight: InFlightOriginals) {
        self.workers = workers
        self.resources = resources
        self.inFlight = inFlight
    }

    /// Lookups that run.
    var count: Int { lookups.count }

    /// The number of lookups that joined another one.
    var sharedCount: Int { lookups.sharedCount }

    // MARK: - Original bytes

    /// Bytes that were downloaded after `plan` was made, for another request that is still working on them: they are
    /// as new as any that could be requested now, whatever the policy.
    func arrivedSince(_ plan: RequestPlan, _ generation: CacheGeneration) -> OriginalData? {
        guard let original = inFlight.original(for: plan.keys.data, generation), plan.asked <= original.arrived,
            plan.accepts(original.resource)
        else { return nil }
        return original
    }

    /// Original bytes that need no load: those that other requests are working on, else those in the tiers.
    func original(
        _ plan: RequestPlan, _ generation: CacheGeneration, priority: LivePriority
    ) async -> OriginalData? {
        // What must not be stored is only for those who asked before it came.
        if let original = inFlight.original(for: plan.keys.data, generation), original.mayBeReused,
            plan.allowsStoring(original.resource),
            original.resource.head.map(plan.selects) ?? true
        {
            return original
        }
        let cache = plan.originalCache
        let tiers = plan.request.originalReads
        guard !plan.isLocal, !Task.isCancelled, cache.mayContain(plan.keys.data, in: tiers) else { return nil }
        let key = Key(
            data: plan.keys.data, selecting: plan.selecting, cache: ObjectIdentifier(cache), tiers: tiers,
            coder: plan.request.coder?.identifier, generation: generation)
        let found = try? await lookups.value(for: key, priority: priority) { context in
            .success(await self.read(plan, cache, key, priority: context.priority))
        }
        return found ?? nil
    }

    private func read(
        _ plan: RequestPlan, _ cache: ImageCache, _ key: Key, priority: LivePriority
    ) async -> OriginalData? {
        guard let found = await entry(key.data, in: cache, key.tiers, key.selecting, plan, priority: priority)
        else { return nil }
        let entry = found.entry
        return try? await workers.look(byteCount: entry.payload.count, limits: plan.limits) {
            [resources] _ throws(ImageError) -> OriginalData in
            let resource = resources.record(for: key.data, entry.payload, head: entry.head)
            let probe: ImageProbe? =
                if let probe = entry.probe { probe } else {
                    try plan.coders.inspect(entry.payload, options: plan.request.hintedOptions, limits: .unlimited)
                }
            return OriginalData(
                data: entry.payload, resource: resource, probe: probe, origin: .stored(in: found.kind),
                generation: key.generation, source: cache)
        }
    }

    /// Removes bytes of a cache that turned out to be damaged, so that they are loaded again.
    func discard(_ original: OriginalData, _ plan: RequestPlan) async {
        await original.source?.remove(plan.keys.data, matching: plan.selecting)
    }

    // MARK: - What was made of them

    /// The processed image from an entry of its own, where the request stores such and it is still fresh.
    func processed(_ plan: RequestPlan, priority: LivePriority) async -> (image: Image, origin: ImageResponse.Origin)? {
        guard case .encoded = plan.request.storeFinal, plan.policy != .reload, plan.policy != .refresh,
            !plan.request.wantsData,
            let found = await entry(
                plan.processedKey, in: plan.cache, plan.request.reads, plan.selecting, plan, priority: priority)
        else { return nil }
        let entry = found.entry
        let resource = ResourceRecord(
            digest: ContentDigest(of: entry.payload), byteCount: entry.payload.count, head: entry.head)
        guard plan.step(for: resource).needsNothing else { return nil }
        do throws(ImageError) {
            let image = try await workers.run(cost: 0, priority: priority, limits: plan.limits) {
                [coders = plan.defaults.configuration.coders] context throws(ImageError) -> Image in
                try ProcessedForm.image(entry.payload, plan.request, coders, context: context)
                    .with(provenance: resource)
            }
            return (image, .stored(in: found.kind))
        } catch {
            // A request that was canceled or refused says nothing about the entry.
            if error.blamesBytes { await plan.cache.remove(plan.processedKey, matching: plan.selecting) }
            return nil
        }
    }

    /// An encoding that was made before of the original bytes with this digest; nothing is decoded.
    func encoding(
        _ encoding: ImageEncoding, _ plan: RequestPlan, of digest: ContentDigest, priority: LivePriority
    ) async -> Data? {
        let found = await entry(
            plan.encodedKey(encoding), in: plan.cache, plan.request.reads, plan.selecting, plan, priority: priority)
        guard let entry = found?.entry, entry.attachment == digest.bytes else { return nil }
        return entry.payload
    }

    private func entry(
        _ key: CacheKey, in cache: ImageCache, _ tiers: CacheTiers, _ selecting: HTTPFields, _ plan: RequestPlan,
        priority: LivePriority
    ) async -> ImageCache.Answer? {
        guard cache.mayContain(key, in: tiers) else { return nil }
        let span = plan.trace?.begin(.disk, key: key)
        let found = await ReadPriority.$current.withValue(priority) {
            await cache.entry(for: key, matching: selecting, in: tiers)
        }
        span?.end { event in
            event.bytes = found?.entry.payload.count
            event.origin = found.map { .stored(in: $0.kind) }
        }
        return found
    }
}

extension RequestPlan {
    /// The key of the processed image as an entry of its own.
    var processedKey: CacheKey { keys.final.appending(["final"]) }

    /// The key of the processed image in `encoding`.
    func encodedKey(_ encoding: ImageEncoding) -> CacheKey {
        keys.final.appending(["encoded", encoding.identity])
    }
}

extension ContentDigest {
    /// The digest as 16 bytes, big-endian.
    var bytes: Data {
        var data = Data(capacity: 16)
        for half in [high, low] { withUnsafeBytes(of: half.bigEndian) { data.append(contentsOf: $0) } }
        return data
    }
}
