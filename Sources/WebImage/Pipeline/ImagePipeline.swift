// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The path of a request, which contains its entry points and the stages that ``RequestExecution`` calls in order.
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
    let originalInfos = OriginalInfoRegistry()
    let inFlight = InFlightOriginals()
    let workers: WorkerPool
    let unresponsive: UnresponsiveData
    let admissions = InFlightLimiter()
    let foreground = VisibleRequestTracker()
    let postprocessor = PixelPostprocessor()
    let activity = LoadActivity()
    let counters = ManagerCounters()
    let running = RunningTaskRegistry()
    private let starter = BatchedTaskStarter()
    private let revalidations = BackgroundRevalidations()
    /// The maximum number of different requests, or `nil` if it's unlimited.
    private let queueLimit: Int?
    private let time: TimeSource

    init(configuration: ImageManager.Configuration, cache: ImageCache, settings: LiveSettings) {
        defaults = RequestDefaults(configuration, cache: cache, settings: settings)
        interceptors = RequestInterceptorChain(configuration, defaults)
        queueLimit = configuration.maxInFlightRequests
        time = configuration.time ?? .system
        failures = FailureStage(
            memory: FailureCache(
                policy: FailurePolicy { [lifetime = configuration.failureLifetime] error in
                    lifetime(error).map { $0 / .seconds(1) }
                },
                limit: configuration.maxRememberedFailures, now: configuration.now))
        workers = WorkerPool(
            threads: configuration.workerThreadCount, waitingThreads: configuration.decoding.maxHelpers,
            byteBudget: configuration.decodingMemoryLimit,
            waitingLimit: configuration.maxQueuedWorkItems, time: configuration.time ?? .system)
        unresponsive = UnresponsiveData(now: configuration.now)
        self.cache = CacheStage(workers: workers, originalInfos: originalInfos, inFlight: inFlight)
        let feeds = IncrementalDecodeRegistry(
            PreviewRenderer(configuration, workers, postprocessor), workers: workers,
            decodesWhileLoading: configuration.decodesWhileDownloading)
        fetch = FetchStage(
            configuration, workers: workers, originalInfos: originalInfos, inFlight: inFlight, counters: counters,
            activity: activity, feeds: feeds)
        decode = DecodeStage(
            workers: workers, counters: counters, postprocessor: postprocessor,
            pressure: configuration.memoryPressureMonitor, unresponsive: unresponsive,
            threadLimit: configuration.maxThreadsPerDecode)
        transform = TransformStage(
            workers: workers, counters: counters, postprocessor: postprocessor, unresponsive: unresponsive)
        encode = EncodeStage(workers: workers, counters: counters)
        storing = StoreStage(workers: workers, serialize: configuration.cacheSerializer)
    }

    var runningJobs: Int {
        cache.count + fetch.count + decode.count + transform.count + encode.count + workers.load + storing.count
            + revalidations.count
    }

    var statistics: ImageManager.Statistics {
        counters.statistics(
            coalescedLoads: fetch.sharedCount, coalescedDecodes: decode.sharedCount + transform.sharedCount,
            coalescedEncodes: encode.sharedCount, unresponsiveThreads: workers.lostThreadCount)
    }

    // MARK: - Starting requests

    /// Returns the plan of `request` after the modifier of the configuration changed it.
    func plan(_ request: ImageRequest, isPrefetch: Bool = false) -> RequestPlan {
        interceptors.preparesNothing
            ? RequestPlan(request, defaults, isPrefetch: isPrefetch)
            : RequestPlan(interceptors.prepared(request), defaults, isPrefetch: isPrefetch)
    }

    /// Looks up the image in memory without suspending.
    ///
    /// Returns a response if the image serves the request, and otherwise the image to revalidate or complete. Returns
    /// neither if interceptors must run first, the version of a file must be read, or a tier may contain a higher quality.
    ///
    /// A response counts as the result of the request and is reported to the observers.
    func hit(_ plan: RequestPlan) -> (ImageResponse?, known: DecodedImage?) {
        let found = partialHit(plan)
        guard let response = found.0 else { return found }
        counters.countMemoryHit()
        if let trace = plan.trace {
            trace.begin(.request, cacheKey: plan.keys.final).end(.success(DeliveredResult(response)))
        }
        return found
    }

    /// Looks up the image in memory like ``hit(_:)``, for a part of another request, which isn't counted and reported.
    func partialHit(_ plan: RequestPlan) -> (ImageResponse?, known: DecodedImage?) {
        guard !interceptors.interceptsMemoryHits, !plan.needsVerification else { return (nil, nil) }
        let hit = memory.hit(plan)
        // A revalidation must pass through the interceptors.
        guard let response = response(hit, plan, needsNothing: interceptors.interceptsLoads) else {
            return (nil, hit?.known)
        }
        return (response, hit?.known)
    }

    /// This method delivers nothing, so it doesn't use up a prefetched image.
    func servesWithoutServer(_ hit: MemoryStage.Hit?, _ plan: RequestPlan) -> Bool {
        guard let hit else { return false }
        return hit.step.needsNothing && !plan.request.includesOriginalData
    }

    /// `needsNothing` indicates that a background revalidation counts as more work.
    func response(_ hit: MemoryStage.Hit?, _ plan: RequestPlan, needsNothing: Bool = false) -> ImageResponse? {
        guard let hit, hit.step.servesRequest, !plan.request.includesOriginalData else { return nil }
        if needsNothing, !hit.step.needsNothing { return nil }
        let step = plan.claim(hit.decision, of: hit.image.originalInfo)
        guard needsNothing ? step.needsNothing : step.servesRequest else { return nil }
        if step.revalidatesInBackground { revalidate(plan, known: hit.image) }
        return response(hit.image, plan, isStale: step.revalidatesInBackground)
    }

    func response(
        _ image: DecodedImage, _ plan: RequestPlan, origin: ImageResponse.Source = .memoryCache,
        isStale: Bool = false
    ) -> ImageResponse {
        let originalInfo = image.originalInfo
        var response = ImageResponse(
            image: image, originalData: nil, source: origin, url: plan.request.url, storedHead: originalInfo?.head,
            originalByteCount: originalInfo?.byteCount, freshnessPolicy: plan.defaults.freshnessPolicy,
            deliveredAt: plan.now)
        response.isStale = isStale
        return response
    }

    /// Starts a request that memory couldn't serve. `isPart` indicates that the request is part of another request, which
    /// was admitted and is counted and reported instead. `isPrefetch` indicates a prefetch request, and `isPreliminary`
    /// a preliminary request, which isn't listed.
    func start(
        _ plan: RequestPlan, known: DecodedImage?, isPart: Bool = false, isPrefetch: Bool = false,
        isPreliminary: Bool = false
    ) -> ImageTask {
        plan.captureSettings()
        let span = isPart ? nil : plan.trace?.begin(.request, cacheKey: plan.keys.final)
        let key: InFlightLimiter.Key?
        do throws(ImageError) {
            key = isPart ? nil : try admit(plan)
        } catch {
            report(.failure(error), span)
            return ImageTask(plan.callerRequest, finished: .failure(error))
        }
        let task = ImageTask(plan.callerRequest)
        fetch.reserve(plan, for: task, .image(plan.limits))
        if let timer = timer(of: task) { task.call(whenFinished: { timer.cancel() }) }
        let isIntercepted = interceptors.interceptsLoads
        if !isIntercepted {
            task.stores(in: plan.caches)
            inFlight.enter()
        }
        if !isPrefetch { foreground.enter() }
        running.begin(
            task, isPart ? .encoding : isPrefetch ? .prefetch : .image,
            isPart: isPart || isPreliminary)
        task.start(by: starter) { [self] isWanted in
            let result: Result<ImageResponse, ImageError> =
                if !isWanted {
                    .failure(.cancelled)
                } else if isIntercepted {
                    await runIntercepted(plan, task)
                } else {
                    await run(plan, task, known: known)
                }
            if !isIntercepted { inFlight.leave() }
            running.end(task)
            // A canceled request counts as canceled even if its response arrived at the same moment.
            if !isPart { report((task.result ?? result).map(DeliveredResult.init), span) }
            release(key)
            if !isPrefetch { foreground.leave() }
            return result
        }
        return task
    }

    /// A result that isn't an image, and its description for the statistics and the observers.
    typealias Delivery<Value> = (value: Value, result: DeliveredResult)

    /// Runs a request for data or for an encoded image: admits it, and counts and reports its result.
    ///
    /// `encoding` is `nil` for the original data.
    func perform<Value: Sendable>(
        _ plan: RequestPlan, as kind: ImageManager.RunningTask.Kind, _ encoding: ImageEncoding? = nil,
        _ body: @escaping @Sendable (ImageTask) async throws(ImageError) -> Delivery<Value>
    ) async throws(ImageError) -> Value {
        let span = plan.trace?.begin(
            .request, cacheKey: encoding.map(plan.encodedKey) ?? plan.keys.data,
            details: encoding?.formatOrAutomatic.rawValue ?? "")
        return try await reported(span) { () async throws(ImageError) -> Delivery<Value> in
            let key = try admit(plan, encoding)
            defer { release(key) }
            let task = ImageTask(plan.request)
            let timer = timer(of: task)
            defer { timer?.cancel() }
            return try await tracked(task, as: kind) { () async throws(ImageError) in try await body(task) }
        }
    }

    func prefetchData(_ plan: RequestPlan, _ task: ImageTask) async throws(ImageError) {
        let span = plan.trace?.begin(.request, cacheKey: plan.keys.data)
        let timer = timer(of: task)
        defer { timer?.cancel() }
        try await reported(span) { () async throws(ImageError) -> Delivery<Void> in
            try await tracked(task, as: .prefetch) { [self] () async throws(ImageError) -> Delivery<Void> in
                ((), try await original(plan, task).result)
            }
        }
    }

    /// Starts the timer that ends a task when its deadline has passed. Returns `nil` if the request has no deadline.
    private func timer(of task: ImageTask) -> Task<Void, Never>? {
        guard let deadline = task.request.deadline else { return nil }
        return Task.detached { [time, weak task] in
            await time.sleep(seconds: deadline / .seconds(1))
            guard !Task.isCancelled, let task else { return }
            let failure = ImageError.NetworkFailure(
                .timedOut, url: task.request.url, phase: .total,
                details: "the deadline of the request is \(LoadTimeouts.text(deadline / .seconds(1)))")
            task.fail(.network(failure))
        }
    }

    /// Runs the work of a task whose result isn't an image, so that the manager lists it and can cancel it.
    private func tracked<Value: Sendable>(
        _ task: ImageTask, as kind: ImageManager.RunningTask.Kind,
        _ body: @escaping @Sendable () async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        running.begin(task, kind)
        defer {
            task.endReservation()
            running.end(task)
        }
        return try await task.perform(body)
    }

    private func reported<Value>(
        _ span: StageSpan?, _ body: () async throws(ImageError) -> Delivery<Value>
    ) async throws(ImageError) -> Value {
        do throws(ImageError) {
            let (value, result) = try await body()
            report(.success(result), span)
            return value
        } catch {
            report(.failure(error), span)
            throw error
        }
    }

    /// Counts the result of a request, and reports it to the observers. Each request is reported once.
    private func report(_ result: Result<DeliveredResult, ImageError>, _ span: StageSpan?) {
        counters.count(result)
        span?.end(result)
    }

    /// Runs the stages after memory. The caller has registered the request with ``inFlight``.
    func run(_ plan: RequestPlan, _ task: ImageTask, known: DecodedImage?) async -> Result<
        ImageResponse, ImageError
    > {
        // The request was canceled before it started, for example by a view that was scrolled out of sight.
        guard task.result == nil else { return .failure(.cancelled) }
        var (plan, known) = (plan, known)
        if plan.needsVerification {
            plan = await plan.verified()
            let hit = memory.hit(plan)
            if let response = response(hit, plan) { return .success(response) }
            known = hit?.known
        }
        let run = RequestExecution(plan, task, known: known, self)
        do throws(ImageError) {
            return .success(try await run.response())
        } catch {
            return .failure(error)
        }
    }

    func original(_ plan: RequestPlan, _ task: ImageTask) async throws(ImageError) -> DeliveredData {
        plan.captureSettings()
        fetch.reserve(plan, for: task, .bytes)
        guard interceptors.interceptsLoads else { return try await ownBytes(plan, task) }
        return try await bytesIntercepted(plan, task)
    }

    func ownBytes(_ plan: RequestPlan, _ task: ImageTask) async throws(ImageError) -> DeliveredData {
        inFlight.enter()
        defer { inFlight.leave() }
        let run = RequestExecution(await plan.verified(), task, known: nil, self)
        return try await run.bytes()
    }

    // MARK: - Between the stages

    func image(
        _ original: OriginalData, _ ahead: IncrementalDecode?, _ plan: RequestPlan, priority: SharedPriority
    ) async throws(ImageError) -> ProcessedImage {
        try await transform.image(original, plan, priority: priority) {
            [decode] (priority) async throws(ImageError) in
            try await decode.image(original, ahead, plan, priority: priority)
        }
    }

    /// Stores a processed image in the tiers that the request names, except memory.
    func store(
        processed image: DecodedImage, _ originalInfo: OriginalInfo, of original: OriginalData?, _ plan: RequestPlan,
        _ generation: CacheGeneration
    ) -> Task<Void, Never>? {
        storing.store(processed: image, originalInfo, of: original, plan, generation) {
            [encode] image, plan, encoding in
            let encoded = try? await encode.encode(
                image, original: nil, plan, as: encoding, priority: SharedPriority(.low), isProcessedFile: true)
            return encoded?.data
        }
    }

    /// Revalidates stale data that was delivered, in the background and at low priority. `known` is the image of the
    /// data, or `nil` if only the data was requested.
    func revalidate(_ plan: RequestPlan, known: DecodedImage?) {
        revalidations.start(plan) { [self] in
            // The policy contacts the server even if the stale data could serve the request. The events have no
            // subscriber.
            let asking = RequestPlan(plan) { request in
                request.cachePolicy = .refresh
                request.priority = .low
                request.caching.waitsUntilStored = false
            }
            let task = ImageTask(asking.request)
            // Add the task before its work starts, so that it can be canceled from now on.
            running.begin(task, .revalidation)
            return {
                defer { self.running.end(task) }
                _ = try? await task.perform { () async throws(ImageError) -> Void in
                    guard let known else {
                        _ = try await self.ownBytes(asking, task)
                        return
                    }
                    self.inFlight.enter()
                    defer { self.inFlight.leave() }
                    _ = await self.run(asking, task, known: known)
                }
            }
        }
    }

    /// Makes the processed image of a cache entry on the calling thread.
    func image(of entry: CacheEntry, _ plan: RequestPlan, _ generation: CacheGeneration) throws(ImageError)
        -> DecodedImage
    {
        let originalInfo = originalInfos.record(for: plan.keys.data, entry.data, head: entry.head)
        let context = ImageProcessingContext(limits: plan.limits)
        var image = try plan.coders.decode(entry.data, options: plan.request.hintedOptions, context: context)
            .decoded(with: plan.request.decodeOptions).with(provenance: originalInfo)
        for transformer in plan.transformers {
            image = try transformer.apply(
                to: image, context: context.with(scale: plan.request.scale))
            try plan.limits.check(result: image)
        }
        memory.store(image, plan, generation)
        return image
    }

    // MARK: - Admission

    /// Admits `plan`. Returns `nil` if the number of requests isn't limited.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind overloaded, or
    ///   ``ImageError/RequestFailure/unsupportedScheme(_:)``.
    func admit(_ plan: RequestPlan, _ encoding: ImageEncoding? = nil) throws(ImageError) -> InFlightLimiter.Key? {
        plan.captureSettings()
        try defaults.checkScheme(of: plan.request)
        guard let limit = plan.request.maxInFlightRequests ?? queueLimit else { return nil }
        let key = InFlightLimiter.Key(final: plan.keys.digest, encoding: encoding)
        try admissions.enter(key, limit: limit)
        return key
    }

    func release(_ key: InFlightLimiter.Key?) {
        if let key { admissions.leave(key) }
    }
}
