// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The last stage, which stores data.
///
/// It stores original data once per cache and tier that a request selects. It stores processed and encoded images on
/// demand, once per cache and tier, too. It stores nothing if the key was removed after the request began.
final class StoreStage: Sendable {
    typealias Serializer = @Sendable (_ image: DecodedImage?, _ data: Data, _ request: ImageRequest) -> Data?
    typealias Encoder = @Sendable (DecodedImage, RequestPlan, ImageEncoding) async -> Data?

    private let workers: WorkerPool
    private let serialize: Serializer?
    private let running = Atomic<Int>(0)

    init(workers: WorkerPool, serialize: Serializer?) {
        self.workers = workers
        self.serialize = serialize
    }

    var count: Int { running.load(ordering: .relaxed) }

    /// Call this method after the data was decoded, so that invalid data never replaces valid data. `image` is `nil` if
    /// only the data was requested.
    func store(_ original: OriginalData, _ image: DecodedImage?, _ plan: RequestPlan, _ generation: CacheGeneration)
        async
    {
        let (cache, tiers) = (plan.originalCache, plan.request.caching.originalWriteTo.subtracting(.memory))
        guard !plan.isLocal, original.image == nil, original.source !== cache else { return }
        guard plan.http.allowsStoring(original.originalInfo) else { return await removeOlder(than: original, plan) }
        guard !tiers.isEmpty else { return }
        await original.claims.store(in: cache, tiers) { tiers in
            guard let payload = await self.serialized(original, image, plan) else { return }
            let entry = CacheEntry(
                key: plan.keys.data, head: original.originalInfo.head, probe: payload.isOriginal ? original.probe : nil,
                data: payload.data, tags: plan.request.caching.tags, storedAt: plan.now)
            await self.put(entry, in: cache, tiers, plan, generation)
        }
    }

    /// Removes the previous response after a response that must not be stored (RFC 9111 4), because the previous one is
    /// outdated.
    private func removeOlder(than original: OriginalData, _ plan: RequestPlan) async {
        guard original.origin == .network, !original.originalInfo.isSubstitute else { return }
        plan.cache.removeAllFromMemory(of: plan.keys.data)
        guard plan.originalCache.mayContain(plan.keys.data) else { return }
        await plan.originalCache.remove(plan.keys.data, matching: plan.http.selectingHeaders)
    }

    /// Returns the result of the application's serializer, if any, or `nil` to store nothing.
    private func serialized(
        _ original: OriginalData, _ image: DecodedImage?, _ plan: RequestPlan
    ) async -> (data: Data, isOriginal: Bool)? {
        guard let serialize else { return (original.data, true) }
        let request = plan.request
        let made = try? await workers.run(
            cost: 0, priority: SharedPriority(.low), limits: plan.limits, watched: nil
        ) {
            _ throws(ImageError) -> Data? in serialize(image, original.data, request)
        }
        guard let data = made ?? nil else { return nil }
        return (data, data == original.data)
    }

    /// Returns the work that continues in the background, if any.
    ///
    /// Requests that share `original` encode and store equal images once per cache and tier.
    func store(
        processed image: DecodedImage, _ originalInfo: OriginalInfo, of original: OriginalData?, _ plan: RequestPlan,
        _ generation: CacheGeneration, encode: @escaping Encoder
    ) -> Task<Void, Never>? {
        let tiers = plan.request.caching.writeTo.subtracting(.memory)
        guard let encoding = plan.request.caching.processedEncoding, !tiers.isEmpty,
            ProcessedForm.mayStore(image, plan.request)
        else { return nil }
        let claims =
            original?.claims(
                for: OriginalData.ProcessedEntry(
                    key: plan.processedKey, encoding: encoding, head: originalInfo.head, generation: generation))
            ?? StoreClaims()
        running.add(1, ordering: .relaxed)
        return Task.detached(priority: .background) {
            await claims.store(in: plan.cache, tiers, priority: .background) { tiers in
                guard let data = await encode(image, plan, encoding) else { return }
                let entry = CacheEntry(
                    key: plan.processedKey, head: originalInfo.head, probe: nil, data: data,
                    userData: try? JSONEncoder().encode(ProcessedImageRecord(image)),
                    tags: plan.request.caching.tags, storedAt: plan.now)
                await self.put(entry, in: plan.cache, tiers, plan, generation)
            }
            self.running.subtract(1, ordering: .relaxed)
        }
    }

    func store(
        _ encoded: SharedEncodedImage, of image: DecodedImage, _ encoding: ImageEncoding, _ plan: RequestPlan,
        _ generation: CacheGeneration
    ) async {
        let tiers = plan.request.caching.writeTo.subtracting(.memory)
        guard !tiers.isEmpty, let originalInfo = image.originalInfo, plan.http.allowsStoring(originalInfo),
            !image.metadata.isPartial
        else { return }
        let entry = CacheEntry(
            key: plan.encodedKey(encoding), head: originalInfo.head, data: encoded.data,
            userData: originalInfo.digest.bytes, tags: plan.request.caching.tags, storedAt: plan.now)
        await encoded.claims.store(in: plan.cache, tiers) { tiers in
            await self.put(entry, in: plan.cache, tiers, plan, generation)
        }
    }

    private func put(
        _ entry: CacheEntry, in cache: ImageCache, _ tiers: ImageCache.Tiers, _ plan: RequestPlan,
        _ generation: CacheGeneration
    ) async {
        let span = plan.trace?.begin(.store, cacheKey: entry.key)
        var entry = entry
        entry.timeToLive = plan.request.caching.timeToLive
        await cache.store(entry, request: plan.http.selectingHeaders, in: tiers, madeOf: plan.keys.data, generation)
        span?.end { $0.byteCount = entry.data.count }
    }
}

/// The claims to store shared data, each of which is made once per cache and tier. This class is thread-safe.
final class StoreClaims: Sendable {
    private struct Claim {
        /// Retains the cache so that no other cache has the same address.
        let cache: ImageCache
        let tiers: ImageCache.Tiers
        let work: Task<Void, Never>
    }

    private let claims = Lock<[Claim]>([])

    /// Calls `body` with the tiers of `cache` that no earlier call claimed. This method returns when the stores in all
    /// `tiers` have been queued, including those of other calls.
    func store(
        in cache: ImageCache, _ tiers: ImageCache.Tiers, priority: TaskPriority? = nil,
        _ body: @escaping @Sendable (ImageCache.Tiers) async -> Void
    ) async {
        let works = claims.withLock { claims -> [Task<Void, Never>] in
            let earlier = claims.filter { $0.cache === cache && !$0.tiers.isDisjoint(with: tiers) }
            let missing = earlier.reduce(tiers) { $0.subtracting($1.tiers) }
            guard !missing.isEmpty else { return earlier.map(\.work) }
            // Use a separate task because the first request may be canceled.
            let work = Task.detached(priority: priority) { await body(missing) }
            claims.append(Claim(cache: cache, tiers: missing, work: work))
            return earlier.map(\.work) + [work]
        }
        for work in works { await work.value }
    }
}
