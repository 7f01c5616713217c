// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The run of one request through the stages cache, fetch, decode, transform, and store. The memory lookup has already
/// happened.
///
/// It's a class because the frame of each suspended function would contain a copy of a structure. Methods that don't run
/// while the request waits for its data aren't inlined, because the frame of the waiting function would contain their
/// variables.
final class RequestExecution {
    private let plan: RequestPlan
    private let task: ImageTask
    private let pipeline: ImagePipeline
    /// The image in memory that can't serve the request alone, because it must be revalidated or the request needs its
    /// data.
    private let known: DecodedImage?
    /// The last removals of the key before this request, from the caches for original data and for processed images.
    private let (generation, processedGeneration): (CacheGeneration, CacheGeneration)
    private let contact: SourceContact
    private let start = ContinuousClock.now
    private var timings: [ImageManager.Stage: Duration] = [:]
    /// The image that was delivered as ``ImageTask/Event/cached(_:)``.
    private var delivered: DecodedImage?
    /// The last image made from data, so that no data is decoded twice.
    private var made: DecodedImage?
    private var usesStaleData = false

    init(_ plan: RequestPlan, _ task: ImageTask, known: DecodedImage?, _ pipeline: ImagePipeline) {
        self.plan = plan
        self.task = task
        self.known = known
        self.pipeline = pipeline
        generation = plan.originalCache.generation(of: plan.keys.data)
        processedGeneration =
            plan.cache === plan.originalCache ? generation : plan.cache.generation(of: plan.keys.data)
        contact = SourceContact(plan, task, generation, pipeline)
    }

    func response() async throws(ImageError) -> ImageResponse {
        if let known, !plan.http.step(for: known.originalInfo).servesRequest { show(known, origin: .memoryCache) }
        // The frame of the lookup is large, and the task would retain its memory.
        if known == nil, plan.usesProcessedEntry, let processed = await processed() {
            plan.recordResult(processed.image.originalInfo)
            return processed
        }
        switch try await find() {
        case .bytes(let original, let ahead, let metrics): return try await deliver(original, ahead, metrics)
        case .confirmed(let originalInfo, let stored, let metrics):
            return try await confirm(originalInfo, stored, metrics)
        case .failed(let error, let stored): return try await deliverStale(error, stored)
        }
    }

    func bytes() async throws(ImageError) -> DeliveredData {
        guard plan.request.maker == nil else { throw .request(.noOriginalData) }
        let (stored, late): (OriginalData?, HedgedLookup<OriginalData>?) =
            plan.policy.usesCache
            ? await pipeline.cache.hedgedOriginal(plan, generation, priority: task.livePriority) : (nil, nil)
        if let stored {
            let step = plan.claim(plan.http.decision(for: stored.originalInfo), of: stored.originalInfo)
            if step.servesRequest {
                if step.revalidatesInBackground { pipeline.revalidate(plan, known: nil) }
                plan.recordResult(stored.originalInfo)
                return try data(stored)
            }
        }
        switch try await contact.contact(stored: stored, late, images, for: .bytes) {
        case .bytes(let original, _, _):
            if original.isLengthKnown { await store(original, nil) }
            plan.recordResult(original.originalInfo)
            return try data(original)
        case .confirmed(let originalInfo, let confirmed, _):
            guard let confirmed else { throw .cache(.notInCache) }
            plan.recordResult(originalInfo)
            try plan.check(confirmed)
            return DeliveredData(data: confirmed.data, originalInfo: originalInfo, source: .revalidated)
        case .failed(let error, let stale):
            guard let stale, plan.http.usesStale(stale.originalInfo, insteadOf: error) else { throw error }
            return try data(stale)
        }
    }

    /// Throws an ``ImageError/LimitFailure`` if a request with other limits stored the data.
    private func data(_ original: OriginalData) throws(ImageError) -> DeliveredData {
        try plan.check(original)
        return DeliveredData(data: original.data, originalInfo: original.originalInfo, source: origin(of: original))
    }

    // MARK: - Cache and fetch

    private var images: SourceContact.Images { SourceContact.Images(known: known, delivered: delivered) }

    @inline(never)
    private func processed() async -> ImageResponse? {
        let before = ContinuousClock.now
        guard let found = await pipeline.cache.processed(plan, priority: task.livePriority) else { return nil }
        timings[.diskLookup, default: .zero] += before.duration(to: .now)
        let originalInfo = found.image.originalInfo
        guard plan.claim(plan.http.decision(for: originalInfo), of: originalInfo).needsNothing else { return nil }
        pipeline.postprocessor(found.image)
        pipeline.memory.store(found.image, plan, processedGeneration)
        return response(found.image, originalInfo, found.origin, data: nil, metrics: nil)
    }

    private func find() async throws(ImageError) -> DataLookupResult {
        if plan.policy.mayContactServer, let original = pipeline.inFlight.arrivedSince(plan, generation) {
            return .bytes(original, metrics: original.metrics)
        }
        let (stored, late) = try await usableStored()
        if let stored {
            let step = plan.claim(plan.http.decision(for: stored.originalInfo), of: stored.originalInfo)
            if step.servesRequest {
                usesStaleData = step.revalidatesInBackground
                if step.revalidatesInBackground, let image = made ?? known { pipeline.revalidate(plan, known: image) }
                return .bytes(stored)
            }
            if delivered == nil, let made { show(made, origin: origin(of: stored)) }
        }
        let before = ContinuousClock.now
        defer { timings[.load, default: .zero] += before.duration(to: .now) }
        let use = FetchStage.Purpose.image(showsPreviews: delivered == nil)
        let result = try await contact.contact(stored: stored, late, images, for: use)
        // Data of a late lookup hasn't been decoded yet.
        guard late != nil, case .bytes(let original, _, _) = result, original.source != nil,
            try await decodable(original) == nil
        else { return result }
        return try await contact.contact(stored: nil, nil, images, for: use)
    }

    private func usableStored() async throws(ImageError) -> (OriginalData?, HedgedLookup<OriginalData>?) {
        guard plan.policy.usesCache else { return (nil, nil) }
        let before = ContinuousClock.now
        let (found, late) = await pipeline.cache.hedgedOriginal(plan, generation, priority: task.livePriority)
        timings[.diskLookup, default: .zero] += before.duration(to: .now)
        guard let found else { return (nil, late) }
        let answers = plan.http.step(for: found.originalInfo).servesRequest
        // Skip the trial decode if an image of this data is in memory or a cached image has already been delivered.
        if answers ? known?.originalInfo?.digest == found.originalInfo.digest : delivered != nil { return (found, nil) }
        return (try await decodable(found), nil)
    }

    /// Returns cached data if it can be decoded. Corrupt data is removed so that it's loaded again.
    private func decodable(_ found: OriginalData) async throws(ImageError) -> OriginalData? {
        do throws(ImageError) {
            _ = try await make(found)
            return found
        } catch {
            guard blamesData(error, found) else { throw error }
            await pipeline.cache.discard(found, plan)
            return nil
        }
    }

    // MARK: - Decode, transform, store

    @inline(never)
    private func deliver(
        _ original: OriginalData, _ ahead: IncrementalDecode?, _ metrics: NetworkMetrics?
    ) async throws(ImageError) -> ImageResponse {
        // If the data is the same as that of the delivered image, reuse the image to avoid a second decode and flicker.
        let same = image(of: original.originalInfo)
        let image = if let same { same } else { try await makeNew(original, ahead, metrics) }
        await store(original, image)
        await store(image, original.originalInfo, of: original)
        plan.recordResult(original.originalInfo)
        return response(
            image, original.originalInfo, origin(of: original), data: original.data, metrics: metrics)
    }

    @inline(never)
    private func confirm(
        _ originalInfo: OriginalInfo, _ stored: OriginalData?, _ metrics: NetworkMetrics
    ) async throws(ImageError) -> ImageResponse {
        defer { plan.recordResult(originalInfo) }
        if let same = image(of: originalInfo) {
            await store(same, originalInfo, of: stored)
            return response(same, originalInfo, .revalidated, data: stored?.data, metrics: metrics)
        }
        guard let stored else {
            throw .cache(.corruptEntry(reason: "the revalidated image is no longer in the cache"))
        }
        let image = try await make(stored)
        await store(image, originalInfo, of: stored)
        return response(image, originalInfo, .revalidated, data: stored.data, metrics: metrics)
    }

    /// Delivers the stale image with the error if the server can't be reached and HTTP or the policy allows it.
    @inline(never)
    private func deliverStale(
        _ error: ImageError, _ stored: OriginalData?
    ) async throws(ImageError) -> ImageResponse {
        var (image, origin, data) = (delivered, ImageResponse.Source.memoryCache, stored?.data)
        if let stored, image?.originalInfo?.digest != stored.originalInfo.digest {
            // Another request or process replaced the data of the delivered image. A response with data contains the image
            // of this data.
            let isNeeded = image?.originalInfo == nil || plan.request.includesOriginalData
            if isNeeded, plan.http.usesStale(stored.originalInfo, insteadOf: error),
                let made = try? await make(stored)
            {
                (image, origin) = (made, self.origin(of: stored))
            } else {
                data = nil
            }
        }
        guard let image, let originalInfo = image.originalInfo, plan.http.usesStale(originalInfo, insteadOf: error)
        else { throw error }
        var response = response(image, originalInfo, origin, data: data, metrics: nil)
        response.isStale = true
        response.revalidationError = error
        return response
    }

    /// If the data is invalid, the failure is remembered unless the data may only be truncated. After another failure,
    /// such as that of a transformer or of a limit, the data is stored, because it can serve later requests.
    private func makeNew(
        _ original: OriginalData, _ ahead: IncrementalDecode?, _ metrics: NetworkMetrics?
    ) async throws(ImageError) -> DecodedImage {
        do throws(ImageError) {
            return try await make(original, ahead)
        } catch {
            // A custom coder can accept data that isn't in its format.
            let error = error.addingResponse(original.originalInfo.head?.head).after(metrics)
            if blamesData(error, original) {
                if original.origin == .network, original.isLengthKnown { contact.record(error, of: nil) }
            } else if error != .cancelled {
                await contact.keep(original, wasDecoded: wasDecoded(original))
            }
            throw error
        }
    }

    /// Transformers can throw the same errors for data that was decoded.
    private func blamesData(_ error: ImageError, _ original: OriginalData) -> Bool {
        error.blamesBytes && !wasDecoded(original)
    }

    private func wasDecoded(_ original: OriginalData) -> Bool {
        !plan.transformers.isEmpty && original.wasDecoded(for: ProcessingKey(plan, step: 0, of: original))
    }

    private func make(
        _ original: OriginalData, _ ahead: IncrementalDecode? = nil
    ) async throws(ImageError) -> DecodedImage {
        if let made, made.originalInfo?.digest == original.originalInfo.digest { return made }
        let image = try await pipeline.image(original, ahead, plan, priority: task.livePriority)
        made = image.image
        timings.set(image)
        return image.image
    }

    private func store(_ original: OriginalData, _ image: DecodedImage?) async {
        await pipeline.storing.store(original, image, plan, generation)
        if plan.request.caching.waitsUntilStored { await plan.originalCache.flush() }
    }

    private func store(_ image: DecodedImage, _ originalInfo: OriginalInfo, of original: OriginalData?) async {
        guard plan.http.allowsStoring(originalInfo) else { return }
        pipeline.memory.store(image, plan, processedGeneration)
        let work = pipeline.store(processed: image, originalInfo, of: original, plan, processedGeneration)
        guard let work else { return }
        task.follow(work)
        guard plan.request.caching.waitsUntilStored else { return }
        await work.value
        await plan.cache.flush()
    }

    // MARK: - Response

    /// Returns an available image that was made from exactly this data.
    private func image(of originalInfo: OriginalInfo) -> DecodedImage? {
        [delivered, known].lazy.compactMap { $0 }.first { $0.originalInfo?.digest == originalInfo.digest }
    }

    /// Data that another request downloaded earlier and still uses counts as memory.
    private func origin(of original: OriginalData) -> ImageResponse.Source {
        original.origin == .network && plan.createdAt > original.arrived ? .memoryCache : original.origin
    }

    @inline(never)
    private func show(_ image: DecodedImage, origin: ImageResponse.Source) {
        delivered = image
        guard let originalInfo = image.originalInfo else { return }
        var response = response(image, originalInfo, origin, data: nil, metrics: nil)
        response.isStale = !plan.http.isFresh(originalInfo)
        task.emit(.cached(response))
    }

    private func response(
        _ image: DecodedImage, _ originalInfo: OriginalInfo?, _ origin: ImageResponse.Source, data: Data?,
        metrics: NetworkMetrics?
    ) -> ImageResponse {
        var timings = timings
        timings[.request] = start.duration(to: .now)
        var response = ImageResponse(
            image: image, originalData: plan.request.includesOriginalData && plan.request.maker == nil ? data : nil,
            source: origin, url: plan.request.url, storedHead: originalInfo?.head,
            originalByteCount: originalInfo?.byteCount,
            timings: timings, metrics: metrics, freshnessPolicy: plan.defaults.freshnessPolicy,
            deliveredAt: origin == .network ? nil : plan.defaults.configuration.now())
        response.isStale = usesStaleData
        return response
    }
}

extension [ImageManager.Stage: Duration] {
    mutating func set(_ image: ProcessedImage) {
        self[.decode] = .seconds(image.decodeSeconds)
        if image.transformSeconds > 0 { self[.transform] = .seconds(image.transformSeconds) }
    }
}
