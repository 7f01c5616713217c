// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The path of a request, which contains its entry points and the stages that ``PipelineRun`` calls in order.
///
/// ```
/// request ─ interceptors ─ MemoryStage ─ CacheStage ─ FetchStage ─ DecodeStage ─ TransformStage ─ StoreStage
/// ```
final class ImagePipeline: Sendable {
    let defaults: RequestDefaults
    let interceptors: RequestInterceptorChain
    let memory = MemoryStage()
    let cache: CacheStage
    let fetch: FetchStage
    let decode: DecodeStage
    let transform: TransformStage
    let encode: EncodeStage
    let storing: StoreStage
    let failures: FailureStage
    let resources = ResourceTable()
    let inFlight = InFlightOriginals()
    let workers: WorkerPool
    let admissions = AdmissionTable()
    let foreground = Foreground()
    let preparation = PixelPreparation()
    let activity = LoadActivity()
    let counters = ManagerCounters()
    private let starter = TaskStarter()
    private let revalidations = BackgroundRevalidations()
    /// The maximum number of different requests, or `nil` if it's unlimited.
    private let queueLimit: Int?

    init(configuration: ImageManagerConfiguration, cache: ImageCache, loaders: [any ImageLoader]) {
        let rules = ExchangeRules(configuration.downloader)
        defaults = RequestDefaults(configuration, cache: cache)
        interceptors = RequestInterceptorChain(configuration.interceptors, defaults)
        queueLimit = configuration.queueLimit
        failures = FailureStage(
            memory: FailureMemory(
                policy: configuration.failures, limit: configuration.failureLimit, now: configuration.now),
            rules: rules, hasOwnLoaders: !configuration.loaders.isEmpty)
        workers = WorkerPool(
            threads: configuration.workerThreads, byteBudget: configuration.decodeBudget,
            waitingLimit: configuration.waitingLimit)
        self.cache = CacheStage(workers: workers, resources: resources, inFlight: inFlight)
        let feeds = DownloadFeeds(
            PreviewStudio(configuration, workers, preparation), workers: workers,
            decodesWhileLoading: configuration.decodesWhileLoading)
        fetch = FetchStage(
            configuration, loaders: loaders, rules: rules, workers: workers, resources: resources,
            inFlight: inFlight, cache: self.cache, counters: counters, activity: activity, feeds: feeds)
        decode = DecodeStage(
            workers: workers, memory: memory, counters: counters, preparation: preparation,
            pressure: configuration.memoryPressure)
        transform = TransformStage(
            workers: workers, memory: memory, counters: counters, preparation: preparation)
        encode = EncodeStage(workers: workers, coders: configuration.coders, counters: counters)
        storing = StoreStage(workers: workers, serialize: configuration.serialize)
    }

    /// The number of jobs that run at any stage. It's zero if the pipeline is idle.
    var runningJobs: Int {
        cache.count + fetch.count + decode.count + transform.count + encode.count + workers.load + storing.count
            + revalidations.count
    }

    var statistics: ManagerStatistics {
        var counts = counters.statistics
        counts.loadsShared = fetch.sharedCount
        counts.picturesShared = decode.sharedCount + transform.sharedCount
        counts.encodesShared = encode.sharedCount
        return counts
    }

    // MARK: - Starting requests

    /// Returns the plan of `request` after the interceptors prepared it.
    func plan(_ request: ImageRequest) -> RequestPlan {
        interceptors.isEmpty
            ? RequestPlan(request, defaults) : RequestPlan(interceptors.prepared(request), defaults)
    }

    /// Looks up the image in memory without suspending.
    ///
    /// Returns a response if the image serves the request, and otherwise the image to revalidate or complete. Returns
    /// neither if interceptors must run first or the version of a file must be read.
    func hit(_ plan: RequestPlan) -> (ImageResponse?, known: Image?) {
        guard !interceptors.interceptsLoads, !plan.needsFileVersion else { return (nil, nil) }
        let hit = memory.hit(plan)
        guard let response = response(hit, plan) else { return (nil, hit?.image) }
        counters.countMemoryHit()
        if let trace = plan.trace { trace.begin(.request, key: plan.keys.final).end(.success(response)) }
        return (response, hit?.image)
    }

    /// Returns the response for an image in memory, or `nil` if more work is necessary.
    func response(_ hit: MemoryStage.Hit?, _ plan: RequestPlan) -> ImageResponse? {
        guard let hit, hit.step.answers, !plan.request.wantsData else { return nil }
        if hit.step.revalidatesInBackground { revalidate(plan, known: hit.image) }
        return response(hit.image, plan, isStale: hit.step.revalidatesInBackground)
    }

    /// Returns the response for an available image, which is in memory or comes from an interceptor.
    func response(
        _ image: Image, _ plan: RequestPlan, origin: ImageResponse.Origin = .memory, isStale: Bool = false
    ) -> ImageResponse {
        let resource = image.resource
        var response = ImageResponse(
            image: image, data: nil, origin: origin, url: plan.request.url, head: resource?.head,
            byteCount: resource?.byteCount, timings: StageTimings(), metrics: nil)
        response.isStale = isStale
        return response
    }

    /// Starts a request that memory couldn't serve. `isAdmitted` indicates that the request is part of an admitted
    /// request. `isAhead` indicates a prefetch request.
    func start(_ plan: RequestPlan, known: Image?, isAdmitted: Bool = false, isAhead: Bool = false) -> ImageTask {
        let span = plan.trace?.begin(.request, key: plan.keys.final)
        let place: AdmissionTable.Key?
        do throws(ImageError) {
            place = isAdmitted ? nil : try admit(plan)
        } catch {
            counters.count(.failure(error))
            span?.end(.failure(error))
            return ImageTask(plan.request, finished: .failure(error))
        }
        let task = ImageTask(plan.request)
        let isIntercepted = interceptors.interceptsLoads
        if !isIntercepted {
            task.stores(in: plan.caches)
            inFlight.enter()
        }
        if !isAhead { foreground.enter() }
        task.start(by: starter) { [self] isWanted in
            let result: Result<ImageResponse, ImageError> =
                if !isWanted {
                    .failure(.request(.cancelled))
                } else if isIntercepted {
                    await runIntercepted(plan, task)
                } else {
                    await run(plan, task, known: known)
                }
            if !isIntercepted { inFlight.leave() }
            // A canceled request counts as canceled even if its response arrived at the same moment.
            let told = task.result ?? result
            counters.count(told)
            span?.end(told)
            release(place)
            if !isAhead { foreground.leave() }
            return result
        }
        return task
    }

    /// Runs the stages after memory. The caller has registered the request with ``inFlight``.
    func run(_ plan: RequestPlan, _ task: ImageTask, known: Image?) async -> Result<ImageResponse, ImageError> {
        // The request was canceled before it started, for example by a view that was scrolled out of sight.
        guard task.result == nil else { return .failure(.request(.cancelled)) }
        var (plan, known) = (plan, known)
        if plan.needsFileVersion {
            plan = await plan.verified()
            let hit = memory.hit(plan)
            if let response = response(hit, plan) { return .success(response) }
            known = hit?.image
        }
        var run = PipelineRun(plan, task, known: known, self)
        do throws(ImageError) {
            return .success(try await run.response())
        } catch {
            return .failure(error)
        }
    }

    /// Returns the original data for `plan`, through the interceptors if there are any.
    func bytes(_ plan: RequestPlan, _ task: ImageTask) async throws(ImageError) -> Data {
        guard interceptors.interceptsLoads else { return try await ownBytes(plan, task) }
        return try await bytesIntercepted(plan, task)
    }

    func ownBytes(_ plan: RequestPlan, _ task: ImageTask) async throws(ImageError) -> Data {
        inFlight.enter()
        defer { inFlight.leave() }
        var run = PipelineRun(await plan.verified(), task, known: nil, self)
        return try await run.bytes()
    }

    // MARK: - Between the stages

    /// Returns the processed image of `original`. `ahead` is a decoder that has already received the beginning of the
    /// data.
    func image(
        _ original: OriginalData, _ ahead: StreamedDecode?, _ plan: RequestPlan, priority: LivePriority
    ) async throws(ImageError) -> MadeImage {
        try await transform.image(original, plan, priority: priority) {
            [decode] (priority) async throws(ImageError) in
            try await decode.image(original, ahead, plan, priority: priority)
        }
    }

    /// Stores a processed image in the tiers that the request names, except memory.
    func store(
        processed image: Image, _ resource: ResourceRecord, _ plan: RequestPlan, _ generation: CacheGeneration
    ) -> Task<Void, Never>? {
        storing.store(processed: image, resource, plan, generation) { [encode] image, plan, encoding in
            let encoded = try? await encode.encode(
                image, original: nil, plan, as: encoding, priority: LivePriority(.low))
            return encoded?.data
        }
    }

    /// Revalidates stale data that was delivered, in the background and at low priority. `known` is the image of the
    /// data, or `nil` if only the data was requested.
    func revalidate(_ plan: RequestPlan, known: Image?) {
        revalidations.start(plan) { [self] in
            // The policy contacts the server even if the stale data could serve the request. The events have no
            // subscriber.
            let asking = RequestPlan(plan) { request in
                request.cachePolicy = .refresh
                request.priority = .low
                request.waitsForStore = false
            }
            let task = ImageTask(asking.request)
            guard let known else {
                _ = try? await ownBytes(asking, task)
                return
            }
            inFlight.enter()
            defer { inFlight.leave() }
            _ = await run(asking, task, known: known)
        }
    }

    /// Makes the processed image of a cache entry on the calling thread.
    func image(of entry: DiskEntry, _ plan: RequestPlan, _ generation: CacheGeneration) throws(ImageError) -> Image {
        let resource = resources.record(for: plan.keys.data, entry.payload, head: entry.head)
        let context = CodingContext(limits: plan.limits)
        var image = try plan.coders.decode(entry.payload, options: plan.request.hintedOptions, context: context)
            .with(provenance: resource)
        for transformer in plan.transformers {
            image = try transformer.apply(
                to: image, context: TransformContext(scale: plan.request.scale, coding: context))
            try plan.limits.check(result: image)
        }
        memory.store(image, plan, generation)
        return image
    }

    // MARK: - Admission

    /// Admits `plan`. Returns `nil` if the number of requests isn't limited.
    ///
    /// - Throws: A ``LimitError`` of the kind overloaded, or ``RequestError/unsupportedScheme(_:)``.
    func admit(_ plan: RequestPlan, _ encoding: ImageEncoding? = nil) throws(ImageError) -> AdmissionTable.Key? {
        try defaults.checkScheme(of: plan.request)
        guard let limit = plan.request.queueLimit ?? queueLimit else { return nil }
        let key = AdmissionTable.Key(final: plan.keys.digest, encoding: encoding)
        try admissions.enter(key, limit: limit)
        return key
    }

    /// Releases the slot of a finished request.
    func release(_ place: AdmissionTable.Key?) {
        if let place { admissions.leave(place) }
    }
}
