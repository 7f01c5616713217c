// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

/// The second stage, which looks up original data, processed images, and encoded images in the cache tiers. Concurrent
/// lookups of the same data are coalesced. An error of a cache counts as a cache miss.
final class CacheStage: Sendable {
    /// The key of a lookup of original data. Lookups with equal keys are coalesced.
    private struct Key: Hashable {
        let data: CacheKey
        let selectingHeaders: HTTPHeaderFields
        let cache: ObjectIdentifier
        let tiers: ImageCache.Tiers
        let tierRevision: Int
        let coder: String?
        let generation: CacheGeneration
    }

    private let lookups = SharedJobs<Key, OriginalData?, LookupDelay>(cancelled: .cancelled)
    private let workers: WorkerPool
    private let originalInfos: OriginalInfoRegistry
    private let inFlight: InFlightOriginals

    init(workers: WorkerPool, originalInfos: OriginalInfoRegistry, inFlight: InFlightOriginals) {
        self.workers = workers
        self.originalInfos = originalInfos
        self.inFlight = inFlight
    }

    var count: Int { lookups.count }

    /// The number of lookups that joined another one.
    var sharedCount: Int { lookups.sharedCount }

    // MARK: - Original data

    /// Returns data that another request is using, or data from the tiers. If a tier is slow, `onDelay` is called, and
    /// the lookup continues.
    func original(
        _ plan: RequestPlan, _ generation: CacheGeneration, priority: SharedPriority,
        onDelay: (@Sendable () -> Void)? = nil
    ) async -> OriginalData? {
        let tiers = plan.request.caching.originalReadFrom
        if let original = inUse(plan, generation) { return original }
        let cache = plan.originalCache
        guard !plan.isLocal, !Task.isCancelled, cache.mayContain(plan.keys.data, in: tiers) else { return nil }
        let key = Key(
            data: plan.keys.data, selectingHeaders: plan.http.selectingHeaders, cache: ObjectIdentifier(cache),
            tiers: tiers,
            tierRevision: cache.tierRevision, coder: plan.request.coder?.identifier, generation: generation)
        let onUpdate = onDelay.map { onDelay in { @Sendable (_: LookupDelay) in onDelay() } }
        let found = try? await lookups.value(for: key, priority: priority, onUpdate: onUpdate) { context in
            .success(
                await self.read(plan, cache, key, priority: context.priority) { context.report(LookupDelay()) })
        }
        return found ?? nil
    }

    /// Returns the record of large stored original data, which is usually known without reading the data, or `nil` if the
    /// data must be looked up.
    func originalInfo(
        _ plan: RequestPlan, _ generation: CacheGeneration, priority: SharedPriority
    ) async -> OriginalInfo? {
        guard !plan.isLocal, !Task.isCancelled, inUse(plan, generation) == nil else { return nil }
        let found = await ReadPriority.$current.withValue(priority) {
            await plan.originalCache.summary(
                for: plan.keys.data, matching: plan.http.selectingHeaders, in: plan.request.caching.originalReadFrom)
        }
        return found.map { originalInfos.record(for: plan.keys.data, $0) }
    }

    /// Returns data that another request is using. Data that must not be stored is only for requests that were made before
    /// it arrived.
    private func inUse(_ plan: RequestPlan, _ generation: CacheGeneration) -> OriginalData? {
        guard plan.request.caching.originalReadFrom.contains(.memory),
            let original = inFlight.original(for: plan.keys.data, generation),
            original.mayBeReused, plan.http.allowsStoring(original.originalInfo),
            plan.http.selects(original.originalInfo)
        else { return nil }
        return original
    }

    /// Returns original data like ``original(_:_:priority:onDelay:)``, or the running lookup if a tier is slow.
    func hedgedOriginal(
        _ plan: RequestPlan, _ generation: CacheGeneration, priority: SharedPriority
    ) async -> (found: OriginalData?, late: HedgedLookup<OriginalData>?) {
        guard !plan.isLocal, plan.originalCache.canDelayLookups(in: plan.request.caching.originalReadFrom) else {
            return (await original(plan, generation, priority: priority), nil)
        }
        let lookup = HedgedLookup { onDelay in
            await self.original(plan, generation, priority: priority, onDelay: onDelay)
        }
        guard case .finished(let found) = await lookup.firstAnswer() else { return (nil, lookup) }
        return (found, nil)
    }

    private func read(
        _ plan: RequestPlan, _ cache: ImageCache, _ key: Key, priority: SharedPriority,
        onDelay: @escaping @Sendable () -> Void
    ) async -> OriginalData? {
        let found = await entry(
            key.data, in: cache, key.tiers, key.selectingHeaders, plan, priority: priority, onDelay: onDelay)
        guard let found else { return nil }
        let entry = found.entry
        return try? await workers.inspect(byteCount: entry.data.count, limits: plan.limits) {
            [originalInfos] _ throws(ImageError) -> OriginalData in
            let originalInfo = originalInfos.record(for: key.data, entry.data, head: entry.head)
            let probe: ImageInfo? =
                if let probe = entry.probe { probe } else {
                    try plan.coders.inspect(entry.data, options: plan.request.hintedOptions, limits: .unlimited)
                }
            return OriginalData(
                data: entry.data, originalInfo: originalInfo, probe: probe, origin: .stored(in: found.kind),
                generation: key.generation, source: cache)
        }
    }

    /// Removes corrupt data from its cache so that it's loaded again.
    func discard(_ original: OriginalData, _ plan: RequestPlan) async {
        await original.source?.remove(plan.keys.data, matching: plan.http.selectingHeaders)
    }

    // MARK: - Processed and encoded images

    /// Returns the processed image from its separate entry, if the request uses such entries and the entry is fresh.
    func processed(_ plan: RequestPlan, priority: SharedPriority) async -> (
        image: DecodedImage, origin: ImageResponse.Source
    )? {
        guard plan.usesProcessedEntry,
            let found = await entry(
                plan.processedKey, in: plan.cache, plan.request.caching.readFrom, plan.http.selectingHeaders, plan,
                priority: priority)
        else { return nil }
        let entry = found.entry
        let originalInfo = OriginalInfo(
            digest: ContentDigest(of: entry.data), byteCount: entry.data.count, head: entry.head)
        guard plan.http.step(for: originalInfo).needsNothing else { return nil }
        do throws(ImageError) {
            let coders = plan.registeredCoders
            let image = try await workers.run(
                cost: 0, priority: priority, remote: coders.remoteWork(decoding: ImageFormat(sniffing: entry.data)),
                limits: plan.limits
            ) { context throws(ImageError) -> DecodedImage in
                let image = try ProcessedForm.image(entry.data, plan.request, coders, context: context)
                return ProcessedImageRecord.restored(image, from: entry.userData, plan).with(provenance: originalInfo)
            }
            return (image, .stored(in: found.kind))
        } catch {
            // The error of a canceled or rejected request doesn't concern the entry.
            if error.blamesBytes { await plan.cache.remove(plan.processedKey, matching: plan.http.selectingHeaders) }
            return nil
        }
    }

    /// An encoding that a tier contains.
    struct StoredEncoding: Sendable {
        let data: Data
        let source: ImageResponse.Source
    }

    func encoding(
        _ encoding: ImageEncoding, _ plan: RequestPlan, of digest: ContentDigest, priority: SharedPriority,
        onDelay: (@Sendable () -> Void)? = nil
    ) async -> StoredEncoding? {
        let found = await entry(
            plan.encodedKey(encoding), in: plan.cache, plan.request.caching.readFrom, plan.http.selectingHeaders, plan,
            priority: priority, onDelay: onDelay)
        guard let found, found.entry.userData == digest.bytes else { return nil }
        return StoredEncoding(data: found.entry.data, source: .stored(in: found.kind))
    }

    func hedgedEncoding(
        _ encoding: ImageEncoding, _ plan: RequestPlan, of digest: ContentDigest, priority: SharedPriority
    ) async -> (found: StoredEncoding?, late: HedgedLookup<StoredEncoding>?) {
        guard plan.cache.canDelayLookups(in: plan.request.caching.readFrom) else {
            return (await self.encoding(encoding, plan, of: digest, priority: priority), nil)
        }
        let lookup = HedgedLookup { onDelay in
            await self.encoding(encoding, plan, of: digest, priority: priority, onDelay: onDelay)
        }
        guard case .finished(let found) = await lookup.firstAnswer() else { return (nil, lookup) }
        return (found, nil)
    }

    private func entry(
        _ key: CacheKey, in cache: ImageCache, _ tiers: ImageCache.Tiers, _ selecting: HTTPHeaderFields,
        _ plan: RequestPlan,
        priority: SharedPriority, onDelay: (@Sendable () -> Void)? = nil
    ) async -> ImageCache.Answer? {
        guard cache.mayContain(key, in: tiers) else { return nil }
        let span = plan.trace?.begin(.diskLookup, cacheKey: key)
        let found = await ReadPriority.$current.withValue(priority) {
            await cache.entry(for: key, matching: selecting, in: tiers, onDelay: onDelay)
        }
        span?.end { event in
            event.byteCount = found?.entry.data.count
            event.source = found.map { .stored(in: $0.kind) }
        }
        return found
    }
}

extension RequestPlan {
    /// It isn't inlined because the frame of a waiting function would contain a copy of the caching options.
    @inline(never)
    var usesProcessedEntry: Bool {
        request.caching.processedEncoding != nil && policy.usesUnconfirmed && !request.includesOriginalData
    }

    /// The key of the separate entry. The files of requests with a high dynamic range have a form of their own.
    var processedKey: CacheKey {
        keys.final.appending(request.decoding.dynamicRange == .high ? ["final", "gain-map"] : ["final"])
    }

    func encodedKey(_ encoding: ImageEncoding) -> CacheKey {
        keys.final.appending(["encoded", encoding.identity])
    }
}

extension ContentDigest {
    /// The digest as 16 big-endian bytes.
    var bytes: Data {
        var data = Data(capacity: 16)
        for half in [high, low] { withUnsafeBytes(of: half.bigEndian) { data.append(contentsOf: $0) } }
        return data
    }
}
