// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// One request on its way through the stages: cache, fetch, decode, transform, store. Memory was asked before.
struct PipelineRun {
    /// How the bytes of the request were found.
    private enum Found {
        /// Bytes that answer the request: fresh ones, or new ones. `ahead` is a decoder that has their beginning.
        case bytes(OriginalData, ahead: StreamedDecode? = nil, metrics: LoadMetrics? = nil)
        /// The server confirmed what was known (304). `stored` are the bytes, where a cache has them.
        case confirmed(ResourceRecord, stored: OriginalData?, metrics: LoadMetrics)
        /// The server could not be asked; `stored` is older than it should be.
        case failed(ImageError, stored: OriginalData?)
    }

    private let plan: RequestPlan
    private let task: ImageTask
    private let pipeline: ImagePipeline
    /// What memory has and may not answer by itself: to be revalidated, or to be completed with its bytes.
    private let known: Image?
    /// The removals before this request, of original bytes and of processed images.
    private let (generation, processedGeneration): (CacheGeneration, CacheGeneration)
    private let start = ContinuousClock.now
    private var timings = StageTimings()
    /// The image that was delivered as ``ImageEvent/cached(_:)``.
    private var shown: Image?
    /// The last image made from bytes, so that no bytes are decoded twice.
    private var made: Image?

    init(_ plan: RequestPlan, _ task: ImageTask, known: Image?, _ pipeline: ImagePipeline) {
        self.plan = plan
        self.task = task
        self.known = known
        self.pipeline = pipeline
        generation = plan.originalCache.generation(of: plan.keys.data)
        processedGeneration =
            plan.cache === plan.originalCache ? generation : plan.cache.generation(of: plan.keys.data)
    }

    /// The processed image.
    mutating func response() async throws(ImageError) -> ImageResponse {
        if let known, !plan.step(for: known.resource).answers { show(known, origin: .memory) }
        if known == nil, let processed = await processed() { return processed }
        switch try await find() {
        case .bytes(let original, let ahead, let metrics): return try await deliver(original, ahead, metrics)
        case .confirmed(let resource, let stored, let metrics): return try await confirm(resource, stored, metrics)
        case .failed(let error, let stored): return try await deliverStale(error, stored)
        }
    }

    /// The original bytes, without decoding them.
    mutating func bytes() async throws(ImageError) -> Data {
        guard plan.request.maker == nil else { throw .request(.noOriginal) }
        let stored =
            plan.policy == .reload
            ? nil : await pipeline.cache.original(plan, generation, priority: task.livePriority)
        if let stored {
            let step = plan.step(for: stored.resource)
            if step.answers {
                if step.revalidatesInBackground { pipeline.revalidate(plan, known: nil) }
                return stored.data
            }
        }
        switch try await ask(stored: stored, for: .bytes) {
        case .bytes(let original, _, _):
            if original.isLengthKnown { await store(original, nil) }
            return original.data
        case .confirmed(_, let confirmed, _):
            guard let confirmed else { throw .cache(.notInCache) }
            return confirmed.data
        case .failed(let error, let stale):
            guard let stale, plan.usesStale(stale.resource, insteadOf: error) else { throw error }
            return stale.data
        }
    }

    // MARK: - Cache and fetch

    /// The processed image, where it was stored as an entry of its own.
    private mutating func processed() async -> ImageResponse? {
        let before = ContinuousClock.now
        guard let found = await pipeline.cache.processed(plan, priority: task.livePriority) else { return nil }
        timings.disk += seconds(since: before)
        pipeline.preparation(found.image.pixels)
        pipeline.memory.store(found.image, plan, processedGeneration)
        return response(found.image, found.image.resource, found.origin, data: nil, metrics: nil)
    }

    private mutating func find() async throws(ImageError) -> Found {
        if plan.policy != .cacheOnly, let original = pipeline.cache.arrivedSince(plan, generation) {
            return .bytes(original, metrics: original.metrics)
        }
        let stored = try await usableStored()
        if let stored {
            let step = plan.step(for: stored.resource)
            if step.answers {
                if step.revalidatesInBackground, let image = made ?? known { pipeline.revalidate(plan, known: image) }
                return .bytes(stored)
            }
            if shown == nil, let made { show(made, origin: origin(of: stored)) }
        }
        let before = ContinuousClock.now
        defer { timings.load += seconds(since: before) }
        return try await ask(stored: stored, for: .image(showsPreviews: shown == nil))
    }

    /// Stored bytes that make an image. Damaged ones are removed, so that they are loaded again.
    private mutating func usableStored() async throws(ImageError) -> OriginalData? {
        guard plan.policy != .reload else { return nil }
        let before = ContinuousClock.now
        let found = await pipeline.cache.original(plan, generation, priority: task.livePriority)
        timings.disk += seconds(since: before)
        guard let found else { return nil }
        let answers = plan.step(for: found.resource).answers
        // An image that is shown already, or that was made of these bytes, need not be made to see whether it can be.
        if answers ? known?.resource?.digest == found.resource.digest : shown != nil { return found }
        do throws(ImageError) {
            _ = try await make(found)
            return found
        } catch {
            guard error.blamesBytes else { throw error }
            await pipeline.cache.discard(found, plan)
            return nil
        }
    }

    /// Asks the source: with the conditions of what is known of it, else for the whole.
    private func ask(stored: OriginalData?, for use: FetchStage.Use) async throws(ImageError) -> Found {
        // Without the bytes a confirmed image would be half an answer to a request that wants both.
        let image = use == .bytes || plan.request.wantsData ? nil : shown ?? known
        let basis = stored?.resource ?? image?.resource
        var step = basis.map(plan.step) ?? plan.stepWithoutStored
        if step.answers { step = plan.stepWithoutStored }
        guard step != .gatewayTimeout else { throw .cache(.notInCache) }
        do throws(ImageError) {
            if let failure = pipeline.failures.failure(plan) { throw failure }
            return try await ask(step, basis, stored, use)
        } catch {
            guard !error.isCancelled, stored != nil || image != nil else { throw error }
            return .failed(error, stored: stored)
        }
    }

    private func ask(
        _ step: CacheStep, _ basis: ResourceRecord?, _ stored: OriginalData?, _ use: FetchStage.Use
    ) async throws(ImageError) -> Found {
        switch try await fetch(step, use) {
        case .original(let original, let ahead, let metrics):
            return .bytes(original, ahead: ahead.isEmpty ? nil : ahead[StreamKey(plan)], metrics: metrics)
        case .notModified(let head, let metrics):
            switch (plan.outcome(.answer(head.head), of: step, stored: basis), basis) {
            case (.confirmed, let basis?):
                let merged = basis.confirm(with: head, plan)
                await plan.originalCache.updateHead(merged, for: plan.keys.data, matching: plan.selecting)
                return .confirmed(basis, stored: stored, metrics: metrics)
            case (.askAgain, _):
                // The 304 is about other bytes than the stored ones. Without conditions there can be no second one.
                return try await ask(plan.stepWithoutStored, nil, nil, use)
            default: throw .network(plan.unexpectedNotModified)
            }
        }
    }

    /// Asks the URL of the request and, where it fails on the network, one alternative after the other. Each request
    /// walks its own alternatives; what it asks one source is shared.
    private func fetch(_ step: CacheStep, _ use: FetchStage.Use) async throws(ImageError) -> Fetched {
        var sources = try pipeline.fetch.sources(plan, step)
        while true {
            let source = sources.current
            do throws(ImageError) {
                let fetched = try await pipeline.fetch.fetch(source, plan, generation, task: task, for: use)
                pipeline.failures.forget(plan, source)
                return fetched.completed(sources)
            } catch {
                note(error, of: source)
                try sources.advance(after: error)
            }
        }
    }

    /// Remembers a failure, unless what is known of the key was removed meanwhile.
    private func note(_ error: ImageError, of source: LoadRequest?) {
        guard plan.originalCache.generation(of: plan.keys.data) == generation else { return }
        pipeline.failures.note(error, plan, source)
    }

    // MARK: - Decode, transform, store

    /// New or fresh bytes: the image made of them, stored where the request wants it.
    private mutating func deliver(
        _ original: OriginalData, _ ahead: StreamedDecode?, _ metrics: LoadMetrics?
    ) async throws(ImageError) -> ImageResponse {
        // The same bytes as shown already: no second decode, no flicker.
        let same = image(of: original.resource)
        let image = if let same { same } else { try await makeNew(original, ahead, metrics) }
        await store(original, image)
        await store(image, original.resource)
        return response(
            image, original.resource, origin(of: original), data: original.data, metrics: metrics)
    }

    private mutating func confirm(
        _ resource: ResourceRecord, _ stored: OriginalData?, _ metrics: LoadMetrics
    ) async throws(ImageError) -> ImageResponse {
        if let same = image(of: resource) {
            await store(same, resource)
            return response(same, resource, .revalidated, data: stored?.data, metrics: metrics)
        }
        guard let stored else { throw .cache(.corrupt(reason: "a revalidated image is no longer there")) }
        let image = try await make(stored)
        await store(image, resource)
        return response(image, resource, .revalidated, data: stored.data, metrics: metrics)
    }

    /// The server could not be asked: the stored image with the reason, where HTTP or the policy allows it.
    private mutating func deliverStale(
        _ error: ImageError, _ stored: OriginalData?
    ) async throws(ImageError) -> ImageResponse {
        guard let resource = shown?.resource ?? stored?.resource, plan.usesStale(resource, insteadOf: error)
        else { throw error }
        var image = shown
        if image == nil, let stored { image = try? await make(stored) }
        guard let image else { throw error }
        let origin = shown == nil ? stored.map(origin) ?? .disk : .memory
        var answer = response(image, resource, origin, data: stored?.data, metrics: nil)
        answer.isStale = true
        answer.refreshError = error
        return answer
    }

    /// The image of bytes that have just come. Those that make none are not loaded again for a while, unless they may
    /// only have been truncated.
    private mutating func makeNew(
        _ original: OriginalData, _ ahead: StreamedDecode?, _ metrics: LoadMetrics?
    ) async throws(ImageError) -> Image {
        do throws(ImageError) {
            return try await make(original, ahead)
        } catch {
            let error = error.after(metrics)
            if original.origin == .network, original.isLengthKnown, error.blamesBytes {
                note(error, of: nil)
            }
            throw error
        }
    }

    private mutating func make(
        _ original: OriginalData, _ ahead: StreamedDecode? = nil
    ) async throws(ImageError) -> Image {
        if let made, made.resource?.digest == original.resource.digest { return made }
        let image = try await pipeline.image(original, ahead, plan, priority: task.livePriority)
        made = image.image
        timings.decode = image.decodeSeconds
        timings.transform = image.transformSeconds
        return image.image
    }

    private func store(_ original: OriginalData, _ image: Image?) async {
        await pipeline.storing.store(original, image, plan, generation)
        if plan.request.waitsForStore { await plan.originalCache.flush() }
    }

    private func store(_ image: Image, _ resource: ResourceRecord) async {
        guard plan.allowsStoring(resource) else { return }
        pipeline.memory.store(image, plan, processedGeneration)
        guard let work = pipeline.store(processed: image, resource, plan, processedGeneration) else { return }
        task.follow(work)
        guard plan.request.waitsForStore else { return }
        await work.value
        await plan.cache.flush()
    }

    // MARK: - Response

    /// An image at hand that was made of exactly these bytes.
    private func image(of resource: ResourceRecord) -> Image? {
        [shown, known].lazy.compactMap { $0 }.first { $0.resource?.digest == resource.digest }
    }

    /// Where the bytes came from, as far as this request is concerned: those that another request downloaded before
    /// were merely still in use.
    private func origin(of original: OriginalData) -> ImageResponse.Origin {
        original.origin == .network && plan.asked > original.arrived ? .memory : original.origin
    }

    private mutating func show(_ image: Image, origin: ImageResponse.Origin) {
        shown = image
        guard let resource = image.resource else { return }
        var answer = response(image, resource, origin, data: nil, metrics: nil)
        answer.isStale = !plan.isFresh(resource)
        task.emit(.cached(answer))
    }

    private func response(
        _ image: Image, _ resource: ResourceRecord?, _ origin: ImageResponse.Origin, data: Data?,
        metrics: LoadMetrics?
    ) -> ImageResponse {
        var timings = timings
        timings.total = seconds(since: start)
        var answer = ImageResponse(
            image: image, data: plan.request.wantsData && plan.request.maker == nil ? data : nil, origin: origin,
            url: plan.request.url, head: resource?.head, byteCount: resource?.byteCount, timings: timings,
            metrics: metrics)
        answer.isStale =
            [.memory, .disk, .remote].contains(origin) && plan.step(for: resource).revalidatesInBackground
        return answer
    }

    private func seconds(since instant: ContinuousClock.Instant) -> Double {
        instant.duration(to: .now) / .seconds(1)
    }
}

extension RequestPlan {
    fileprivate var unexpectedNotModified: NetworkError {
        NetworkError(
            .badServerResponse, url: request.url.absoluteString, phase: .head, status: 304,
            detail: "304 without a condition")
    }
}
