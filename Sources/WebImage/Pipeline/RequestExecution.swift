// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The run of one request through the stages cache, fetch, decode, transform, and store. The memory lookup has already
/// happened.
struct RequestExecution {
    /// The outcome of the search for the request's data.
    private enum DataLookupResult {
        /// Fresh or new data, which serves the request. `ahead` is a decoder that has received the beginning of the
        /// data.
        case bytes(OriginalData, ahead: IncrementalDecode? = nil, metrics: NetworkMetrics? = nil)
        /// Data that the server revalidated (304). `stored` is the data if a cache contains it.
        case confirmed(OriginalInfo, stored: OriginalData?, metrics: NetworkMetrics)
        /// A failed request to the server. `stored` is stale data if a cache contains it.
        case failed(ImageError, stored: OriginalData?)
    }

    private let plan: ResolvedRequest
    private let task: ImageTask
    private let pipeline: ImagePipeline
    /// The image in memory that can't serve the request alone, because it must be revalidated or the request needs its
    /// data.
    private let known: DecodedImage?
    /// The last removals of the key before this request, from the caches for original data and for processed images.
    private let (generation, processedGeneration): (CacheGeneration, CacheGeneration)
    private let start = ContinuousClock.now
    private var timings: [ImageManager.Stage: Duration] = [:]
    /// The image that was delivered as ``ImageTask/Event/cached(_:)``.
    private var delivered: DecodedImage?
    /// The last image made from data, so that no data is decoded twice.
    private var made: DecodedImage?
    /// A Boolean value that indicates whether the request uses stale data that is revalidated in the background.
    private var usesStaleData = false

    init(_ plan: ResolvedRequest, _ task: ImageTask, known: DecodedImage?, _ pipeline: ImagePipeline) {
        self.plan = plan
        self.task = task
        self.known = known
        self.pipeline = pipeline
        generation = plan.originalCache.generation(of: plan.keys.data)
        processedGeneration =
            plan.cache === plan.originalCache ? generation : plan.cache.generation(of: plan.keys.data)
    }

    /// Returns the response with the processed image.
    mutating func response() async throws(ImageError) -> ImageResponse {
        if let known, !plan.step(for: known.resource).servesRequest { show(known, origin: .memoryCache) }
        if known == nil, let processed = await processed() {
            plan.recordResult(processed.image.resource)
            return processed
        }
        switch try await find() {
        case .bytes(let original, let ahead, let metrics): return try await deliver(original, ahead, metrics)
        case .confirmed(let resource, let stored, let metrics): return try await confirm(resource, stored, metrics)
        case .failed(let error, let stored): return try await deliverStale(error, stored)
        }
    }

    /// Returns the original data without decoding it.
    mutating func bytes() async throws(ImageError) -> Data {
        guard plan.request.maker == nil else { throw .request(.noOriginalData) }
        let stored =
            plan.policy == .reload
            ? nil : await pipeline.cache.original(plan, generation, priority: task.livePriority)
        if let stored {
            let step = plan.claim(plan.decision(for: stored.resource), of: stored.resource)
            if step.servesRequest {
                if step.revalidatesInBackground { pipeline.revalidate(plan, known: nil) }
                plan.recordResult(stored.resource)
                return stored.data
            }
        }
        switch try await contactSource(stored: stored, for: .bytes) {
        case .bytes(let original, _, _):
            if original.isLengthKnown { await store(original, nil) }
            plan.recordResult(original.resource)
            return original.data
        case .confirmed(let resource, let confirmed, _):
            guard let confirmed else { throw .cache(.notInCache) }
            plan.recordResult(resource)
            return confirmed.data
        case .failed(let error, let stale):
            guard let stale, plan.usesStale(stale.resource, insteadOf: error) else { throw error }
            return stale.data
        }
    }

    // MARK: - Cache and fetch

    /// Returns the response with the processed image if it's stored as a separate entry.
    private mutating func processed() async -> ImageResponse? {
        let before = ContinuousClock.now
        guard let found = await pipeline.cache.processed(plan, priority: task.livePriority) else { return nil }
        timings[.diskLookup, default: .zero] += before.duration(to: .now)
        let resource = found.image.resource
        guard plan.claim(plan.decision(for: resource), of: resource).needsNothing else { return nil }
        pipeline.preparation(found.image.pixels)
        pipeline.memory.store(found.image, plan, processedGeneration)
        return response(found.image, resource, found.origin, data: nil, metrics: nil)
    }

    private mutating func find() async throws(ImageError) -> DataLookupResult {
        if plan.policy != .cacheOnly, let original = pipeline.cache.arrivedSince(plan, generation) {
            return .bytes(original, metrics: original.metrics)
        }
        let stored = try await usableStored()
        if let stored {
            let step = plan.claim(plan.decision(for: stored.resource), of: stored.resource)
            if step.servesRequest {
                usesStaleData = step.revalidatesInBackground
                if step.revalidatesInBackground, let image = made ?? known { pipeline.revalidate(plan, known: image) }
                return .bytes(stored)
            }
            if delivered == nil, let made { show(made, origin: origin(of: stored)) }
        }
        let before = ContinuousClock.now
        defer { timings[.load, default: .zero] += before.duration(to: .now) }
        return try await contactSource(stored: stored, for: .image(showsPreviews: delivered == nil))
    }

    /// Returns cached data that can be decoded. Corrupt data is removed so that it's loaded again.
    private mutating func usableStored() async throws(ImageError) -> OriginalData? {
        guard plan.policy != .reload else { return nil }
        let before = ContinuousClock.now
        let found = await pipeline.cache.original(plan, generation, priority: task.livePriority)
        timings[.diskLookup, default: .zero] += before.duration(to: .now)
        guard let found else { return nil }
        let answers = plan.step(for: found.resource).servesRequest
        // Skip the trial decode if an image of this data is in memory or a cached image has already been delivered.
        if answers ? known?.resource?.digest == found.resource.digest : delivered != nil { return found }
        do throws(ImageError) {
            _ = try await make(found)
            return found
        } catch {
            guard error.blamesBytes else { throw error }
            await pipeline.cache.discard(found, plan)
            return nil
        }
    }

    /// Contacts the source with a conditional request if something is cached, and otherwise with an unconditional
    /// request.
    private func contactSource(stored: OriginalData?, for use: FetchStage.Purpose) async throws(ImageError)
        -> DataLookupResult
    {
        // A request that needs both the image and the data can't be served by a revalidated image alone.
        let image = use == .bytes || plan.request.includesOriginalData ? nil : delivered ?? known
        let basis = stored?.resource ?? image?.resource
        var step = basis.map(plan.step) ?? plan.stepWithoutStored
        // The conditions of a revalidation have another meaning for other methods (RFC 9110 13.1).
        if step.servesRequest || !plan.request.isPlainGet { step = plan.stepWithoutStored }
        guard step != .gatewayTimeout else { throw .cache(.notInCache) }
        let stale = use == .bytes ? stored?.resource : delivered?.resource ?? stored?.resource
        do throws(ImageError) {
            if let failure = pipeline.failures.failure(plan) { throw failure }
            return try await contactSource(step, basis, stored, use, replacing: stale)
        } catch {
            guard error != .cancelled, stored != nil || image != nil else { throw error }
            return .failed(error, stored: stored)
        }
    }

    /// Contacts the source for `step`. `stale` is the data that can serve the request if the source fails.
    private func contactSource(
        _ step: CacheAction, _ basis: OriginalInfo?, _ stored: OriginalData?, _ use: FetchStage.Purpose,
        replacing stale: OriginalInfo?
    ) async throws(ImageError) -> DataLookupResult {
        switch try await fetch(step, use, replacing: stale) {
        case .original(let original, let ahead, let metrics):
            return .bytes(original, ahead: ahead.isEmpty ? nil : ahead[IncrementalDecodeKey(plan)], metrics: metrics)
        case .notModified(let head, let metrics):
            switch (plan.outcome(.response(head.head), of: step, stored: basis), basis) {
            case (.revalidated, let basis?):
                let merged = basis.confirm(with: head, plan)
                plan.defaults.recentResponses.record(merged, for: plan.keys.data)
                await plan.originalCache.updateHead(merged, for: plan.keys.data, matching: plan.selectingHeaders)
                return .confirmed(basis, stored: stored, metrics: metrics)
            case (.repeatUnconditionally, _):
                // The 304 response refers to other data than the cached data. The next request is unconditional, so it
                // can't cause another 304 response.
                return try await contactSource(plan.stepWithoutStored, nil, nil, use, replacing: stale)
            default: throw .network(plan.unexpectedNotModified)
            }
        }
    }

    /// Loads the URL of the request and, after network failures, one alternative after the other. Each request tries
    /// its own alternatives, but requests to the same source are coalesced.
    ///
    /// If `stale` can serve the request instead of a failed source, no local alternative is tried, because its image
    /// would replace the real one.
    private func fetch(
        _ step: CacheAction, _ use: FetchStage.Purpose, replacing stale: OriginalInfo?
    ) async throws(ImageError) -> FetchResult {
        var sources = try pipeline.fetch.sources(plan, step)
        var withoutLocal = stale == nil ? nil : try pipeline.fetch.sources(plan, step, beforeLocal: true)
        while true {
            let source = sources.current
            do throws(ImageError) {
                let fetched = try await pipeline.fetch.fetch(source, plan, generation, task: task, for: use)
                pipeline.failures.remove(plan, source)
                return fetched.completed(sources)
            } catch {
                record(error, of: source)
                do throws(ImageError) {
                    try withoutLocal?.advance(after: error)
                } catch let last {
                    // This error contains the failures of all sources so far.
                    if let stale, plan.usesStale(stale, insteadOf: error) { throw last }
                }
                try sources.advance(after: error)
            }
        }
    }

    /// Remembers a failure unless the key was removed in the meantime.
    private func record(_ error: ImageError, of source: LoadRequest?) {
        guard plan.originalCache.generation(of: plan.keys.data) == generation else { return }
        pipeline.failures.record(error, plan, source)
    }

    // MARK: - Decode, transform, store

    /// Delivers new or fresh data as an image and stores both if the request allows it.
    private mutating func deliver(
        _ original: OriginalData, _ ahead: IncrementalDecode?, _ metrics: NetworkMetrics?
    ) async throws(ImageError) -> ImageResponse {
        // If the data is the same as that of the delivered image, reuse the image to avoid a second decode and flicker.
        let same = image(of: original.resource)
        let image = if let same { same } else { try await makeNew(original, ahead, metrics) }
        await store(original, image)
        await store(image, original.resource, of: original)
        plan.recordResult(original.resource)
        return response(
            image, original.resource, origin(of: original), data: original.data, metrics: metrics)
    }

    private mutating func confirm(
        _ resource: OriginalInfo, _ stored: OriginalData?, _ metrics: NetworkMetrics
    ) async throws(ImageError) -> ImageResponse {
        defer { plan.recordResult(resource) }
        if let same = image(of: resource) {
            await store(same, resource, of: stored)
            return response(same, resource, .revalidated, data: stored?.data, metrics: metrics)
        }
        guard let stored else {
            throw .cache(.corruptEntry(reason: "the revalidated image is no longer in the cache"))
        }
        let image = try await make(stored)
        await store(image, resource, of: stored)
        return response(image, resource, .revalidated, data: stored.data, metrics: metrics)
    }

    /// Delivers the stale image with the error if the server can't be reached and HTTP or the policy allows it.
    private mutating func deliverStale(
        _ error: ImageError, _ stored: OriginalData?
    ) async throws(ImageError) -> ImageResponse {
        guard let resource = delivered?.resource ?? stored?.resource, plan.usesStale(resource, insteadOf: error)
        else { throw error }
        var image = delivered
        if image == nil, let stored { image = try? await make(stored) }
        guard let image else { throw error }
        let origin = delivered == nil ? stored.map(origin) ?? .diskCache : .memoryCache
        var answer = response(image, resource, origin, data: stored?.data, metrics: nil)
        answer.isStale = true
        answer.revalidationError = error
        return answer
    }

    /// Makes the image of new data. If the data is invalid, the failure is remembered unless the data may only be
    /// truncated.
    private mutating func makeNew(
        _ original: OriginalData, _ ahead: IncrementalDecode?, _ metrics: NetworkMetrics?
    ) async throws(ImageError) -> DecodedImage {
        do throws(ImageError) {
            return try await make(original, ahead)
        } catch {
            let error = error.after(metrics)
            if original.origin == .network, original.isLengthKnown, error.blamesBytes {
                record(error, of: nil)
            }
            throw error
        }
    }

    private mutating func make(
        _ original: OriginalData, _ ahead: IncrementalDecode? = nil
    ) async throws(ImageError) -> DecodedImage {
        if let made, made.resource?.digest == original.resource.digest { return made }
        let image = try await pipeline.image(original, ahead, plan, priority: task.livePriority)
        made = image.image
        timings.set(image)
        return image.image
    }

    private func store(_ original: OriginalData, _ image: DecodedImage?) async {
        await pipeline.storing.store(original, image, plan, generation)
        if plan.request.caching.waitsUntilStored { await plan.originalCache.flush() }
    }

    private func store(_ image: DecodedImage, _ resource: OriginalInfo, of original: OriginalData?) async {
        guard plan.allowsStoring(resource) else { return }
        pipeline.memory.store(image, plan, processedGeneration)
        let work = pipeline.store(processed: image, resource, of: original, plan, processedGeneration)
        guard let work else { return }
        task.follow(work)
        guard plan.request.caching.waitsUntilStored else { return }
        await work.value
        await plan.cache.flush()
    }

    // MARK: - Response

    /// Returns an available image that was made from exactly this data.
    private func image(of resource: OriginalInfo) -> DecodedImage? {
        [delivered, known].lazy.compactMap { $0 }.first { $0.resource?.digest == resource.digest }
    }

    /// Returns the origin of the data from the point of view of this request. Data that another request downloaded
    /// earlier and still uses counts as memory.
    private func origin(of original: OriginalData) -> ImageResponse.Source {
        original.origin == .network && plan.createdAt > original.arrived ? .memoryCache : original.origin
    }

    private mutating func show(_ image: DecodedImage, origin: ImageResponse.Source) {
        delivered = image
        guard let resource = image.resource else { return }
        var answer = response(image, resource, origin, data: nil, metrics: nil)
        answer.isStale = !plan.isFresh(resource)
        task.emit(.cached(answer))
    }

    private func response(
        _ image: DecodedImage, _ resource: OriginalInfo?, _ origin: ImageResponse.Source, data: Data?,
        metrics: NetworkMetrics?
    ) -> ImageResponse {
        var timings = timings
        timings[.request] = start.duration(to: .now)
        var answer = ImageResponse(
            image: image, originalData: plan.request.includesOriginalData && plan.request.maker == nil ? data : nil,
            source: origin, url: plan.request.url, storedHead: resource?.head, originalByteCount: resource?.byteCount,
            timings: timings, metrics: metrics, freshnessPolicy: plan.defaults.freshnessPolicy)
        answer.isStale = usesStaleData
        return answer
    }
}

extension [ImageManager.Stage: Duration] {
    /// Sets the times for decoding and transforming an image.
    mutating func set(_ image: ProcessedImage) {
        self[.decode] = .seconds(image.decodeSeconds)
        if image.transformSeconds > 0 { self[.transform] = .seconds(image.transformSeconds) }
    }
}

extension ResolvedRequest {
    fileprivate var unexpectedNotModified: ImageError.NetworkFailure {
        ImageError.NetworkFailure(
            .badServerResponse, url: request.url, phase: .waitingForResponse, statusCode: 304,
            details: "status 304, but the request wasn't conditional")
    }
}
