// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The result of a load.
///
/// The cases are indirect because every function of a waiting request reserves space for its result.
indirect enum FetchResult: Sendable {
    /// Loaded data. `ahead` contains decoders that have already received the beginning of the data. `metrics` is `nil`
    /// if there was no load.
    case original(OriginalData, ahead: [IncrementalDecodeKey: IncrementalDecode], metrics: NetworkMetrics?)
    case notModified(StoredResponseHead, NetworkMetrics)
    /// Loaded data that exceeds a limit of the request. Other requests may accept it.
    case refused(OriginalData, ImageError)

    /// Returns the same result with the attempts that the request made at earlier sources.
    func completed(_ sources: AlternativeSequence) -> FetchResult {
        switch self {
        case .original(let original, let ahead, let metrics):
            .original(original, ahead: ahead, metrics: metrics.map(sources.completing))
        case .notModified(let head, let metrics): .notModified(head, sources.completing(metrics))
        case .refused: self
        }
    }
}

/// The stage that runs the loaders. Concurrent loads of the same data are coalesced. Previews and decoding during the
/// download subscribe here.
final class FetchStage: Sendable {
    /// The use of the loaded data.
    enum Purpose: Equatable {
        /// The data is decoded to an image, and its beginning to previews if they can be shown.
        case image(showsPreviews: Bool)
        case bytes
    }

    /// The end of a shared load.
    private indirect enum Outcome: Sendable {
        case result(FetchResult)
        /// The beginning of the data exceeds each of `limits`, or it isn't an image. Requests for the data itself and
        /// requests with other limits can still use the complete data.
        case rejected(ImageError, limits: Set<ImageLimits>)
    }

    private let jobs = SharedJobs<FetchKey, Outcome, ImageTask.Event>(cancelled: .cancelled)
    private let progressInterval: Double
    private let now: @Sendable () -> Date
    private let workers: WorkerPool
    private let originalInfos: OriginalInfoRegistry
    private let inFlight: InFlightOriginals
    private let counters: ManagerCounters
    private let activity: LoadActivity
    private let conditions: NetworkConditions
    private let audience = FetchAudience()
    let feeds: IncrementalDecodeRegistry

    init(
        _ configuration: ImageManager.Configuration,
        workers: WorkerPool, originalInfos: OriginalInfoRegistry, inFlight: InFlightOriginals,
        counters: ManagerCounters, activity: LoadActivity, feeds: IncrementalDecodeRegistry
    ) {
        progressInterval = configuration.downloader.progressInterval / .seconds(1)
        now = configuration.now
        conditions = configuration.networkConditions
        self.workers = workers
        self.originalInfos = originalInfos
        self.inFlight = inFlight
        self.counters = counters
        self.activity = activity
        self.feeds = feeds
    }

    var count: Int { jobs.count }
    var sharedCount: Int { jobs.sharedCount }

    /// Returns the sources that the request tries in order: its URL, according to `step`, and then its alternatives.
    /// `beforeLocal` excludes the first local alternative and all alternatives after it.
    func sources(
        _ plan: RequestPlan, _ step: CacheAction, beforeLocal: Bool = false
    ) throws(ImageError) -> AlternativeSequence {
        _ = try source(at: plan.request.url, plan)
        var isAfterLocal = false
        return AlternativeSequence(plan.loadRequest(step)) { url in
            guard let source = try? source(at: url, plan) else { return false }
            isAfterLocal = isAfterLocal || beforeLocal && source.isLocal
            return !isAfterLocal
        }
    }

    /// The part of a request that takes part in a load. It's an object because the frame of the waiting function would
    /// contain its values.
    private final class Participation: Sendable {
        let source: FetchSource
        let key: FetchKey
        private let member: FetchAudience.Member
        private let audience: FetchAudience
        private let subscription: FeedSubscription?

        init(
            _ source: FetchSource, _ key: FetchKey, _ member: FetchAudience.Member, _ audience: FetchAudience,
            _ subscription: FeedSubscription?
        ) {
            self.source = source
            self.key = key
            self.member = member
            self.audience = audience
            self.subscription = subscription
            audience.enter(key, member)
        }

        func end() {
            audience.leave(key, member)
            subscription?.end()
        }
    }

    private func participation(
        _ request: LoadRequest, _ plan: RequestPlan, _ generation: CacheGeneration, _ task: ImageTask,
        _ use: Purpose
    ) throws(ImageError) -> Participation {
        let source = try source(at: request.url, plan)
        let key = FetchKey(
            data: plan.keys.data, exchange: ExchangeKey(request, rules: plan.settings.rules), loader: source.identity,
            timeouts: plan.request.network.timeouts, coder: plan.request.coder?.identifier,
            formatHint: plan.request.hintedOptions.formatHint, revision: plan.settings.revision, generation: generation)
        return Participation(
            source, key, use == .bytes ? .bytes : .image(plan.limits), audience,
            feeds.subscribe(plan, to: key, task, for: use))
    }

    func fetch(
        _ request: LoadRequest, _ plan: RequestPlan, _ generation: CacheGeneration, task: ImageTask,
        for use: Purpose
    ) async throws(ImageError) -> FetchResult {
        // Don't call a closure of the application if the request was canceled during the lookup.
        guard !Task.isCancelled, task.result == nil else { throw .cancelled }
        let participation = try participation(request, plan, generation, task, use)
        defer { participation.end() }
        while true {
            let outcome = try await jobs.value(
                for: participation.key, priority: task.livePriority, onUpdate: { task.emit($0) },
                onJoin: { task.endReservation() }
            ) { [source = participation.source, key = participation.key] context in
                do throws(ImageError) {
                    return .success(try await self.load(plan, request, source, key, context))
                } catch {
                    return .failure(error)
                }
            }
            switch outcome {
            case .result(let result): return Self.checked(result, plan)
            case .rejected(let error, let limits):
                // The load was checked with the limits of other requests, or this request joined it in the instant in
                // which it was rejected. This request then loads again. A load isn't rejected early without it,
                // because the audience contains it.
                if limits.contains(plan.limits), use != .bytes { throw error }
            }
        }
    }

    private static func checked(_ result: FetchResult, _ plan: RequestPlan) -> FetchResult {
        guard case .original(let original, _, let metrics) = result else { return result }
        do throws(ImageError) {
            try plan.check(original)
            return result
        } catch {
            return .refused(original, error.after(metrics))
        }
    }

    /// Reserves the running loads that a request can probably join, until the request joins a load or ends. This method
    /// neither suspends nor calls code of the application.
    func reserve(_ plan: RequestPlan, for task: ImageTask, _ member: FetchAudience.Member) {
        guard plan.policy.mayContactServer else { return }
        let loads = audience.loads(of: plan.keys.data)
        guard !loads.isEmpty else { return }
        let generation = plan.originalCache.generation(of: plan.keys.data)
        let actions = loads.compactMap { key -> (@Sendable () -> Void)? in
            guard key.mayServe(plan, generation), let reservation = jobs.reserve(key, priority: task.livePriority)
            else { return nil }
            audience.enter(key, member)
            return { [jobs, audience] in
                audience.leave(key, member)
                jobs.release(reservation)
            }
        }
        if !actions.isEmpty { task.keep(FetchReservation(actions)) }
    }

    private func source(at url: URL, _ plan: RequestPlan) throws(ImageError) -> FetchSource {
        try FetchSource(url, plan, plan.settings.loaders)
    }

    private func load(
        _ plan: RequestPlan, _ request: LoadRequest, _ source: FetchSource, _ key: FetchKey,
        _ context: SharedJobs<FetchKey, Outcome, ImageTask.Event>.Context
    ) async throws(ImageError) -> Outcome {
        // An equal load may have finished in the meantime. A load of an alternative isn't equal.
        if let original = inFlight.arrivedSince(plan, key.generation), original.exchange == key.exchange {
            return .result(.original(original, ahead: [:], metrics: original.metrics))
        }
        guard let loader = source.loader else {
            return .result(.original(try await made(plan, key), ahead: [:], metrics: nil))
        }
        let observation = observation(of: plan, source, key, context)
        defer { observation.feed.end() }
        let response: LoadResponse
        do throws(ImageError) {
            response = try await counted(plan, source, observation.transfer) { () async throws(ImageError) in
                try await loader.load(request, context: observation.loadContext())
            }
        } catch {
            await plan.removeInvalidated(by: error.responseHead, to: request)
            guard let limits = observation.inspection?.rejectedLimits else { throw error }
            return .rejected(error, limits: limits)
        }
        return try await finish(response, plan, request, source, key, observation)
    }

    /// The objects that observe a load. They're in one object because the frame of the waiting function would contain
    /// them.
    private final class Observation: Sendable {
        let context: SharedJobs<FetchKey, Outcome, ImageTask.Event>.Context
        let meter: ProgressTracker
        let feed: DownloadSession
        let transfer: TransferTrace?
        let inspection: EarlyInspection?
        /// The time at which the loader is called.
        let asked: Date

        init(
            _ context: SharedJobs<FetchKey, Outcome, ImageTask.Event>.Context, _ meter: ProgressTracker,
            _ feed: DownloadSession, _ transfer: TransferTrace?, _ inspection: EarlyInspection?, asked: Date
        ) {
            self.context = context
            self.meter = meter
            self.feed = feed
            self.transfer = transfer
            self.inspection = inspection
            self.asked = asked
        }

        func loadContext() -> LoadContext {
            LoadContext(following: context.priority, rejection: { [inspection] in inspection?.error }) { report in
                self.inspection?.receive(report)
                switch report {
                case .waiting(let reason): self.context.report(.waiting(reason))
                case .started: self.transfer?.start()
                case .head, .body: break
                }
                self.feed.receive(report)
                self.meter.receive(report)
            }
        }
    }

    private func observation(
        of plan: RequestPlan, _ source: FetchSource, _ key: FetchKey,
        _ context: SharedJobs<FetchKey, Outcome, ImageTask.Event>.Context
    ) -> Observation {
        let meter = ProgressTracker(interval: progressInterval, now: now) { context.report(.progress($0)) }
        let asked = now()
        return Observation(
            context, meter, feeds.begin(key, context.priority), TransferTrace(plan.trace),
            earlyInspection(plan, source, key), asked: asked)
    }

    /// It isn't inlined because its variables would then be part of the frame of the waiting function.
    @inline(never)
    private func finish(
        _ response: LoadResponse, _ plan: RequestPlan, _ request: LoadRequest, _ source: FetchSource, _ key: FetchKey,
        _ observation: Observation
    ) async throws(ImageError) -> Outcome {
        observation.feed.endPreviews()
        observation.meter.finish()
        // Local data can't be revalidated, even if its loader returns a response head.
        let head =
            source.isLocal
            ? nil
            : response.httpResponse.map { head in
                plan.storedHead(
                    head, of: response, requested: observation.meter.started ?? observation.asked,
                    responded: observation.meter.head ?? now())
            }
        if response.isNotModified, let head { return .result(.notModified(head, response.metrics)) }
        await plan.removeInvalidated(by: response.httpResponse, to: request)
        let ahead = await observation.feed.finish()
        let original = try await inspect(
            response, head, plan, key, isSubstitute: isSubstitute(source, request, head, plan))
        if let head { plan.defaults.recentResponses.record(head, for: plan.keys.data) }
        // Other requests for the URL have other alternatives.
        if !original.originalInfo.isSubstitute { inFlight.add(original, for: plan.keys.data) }
        return .result(.original(original, ahead: ahead, metrics: response.metrics))
    }

    /// Returns the check of the beginning of a download, or `nil` if code of the application may change the data, or if
    /// no download is saved.
    private func earlyInspection(_ plan: RequestPlan, _ source: FetchSource, _ key: FetchKey) -> EarlyInspection? {
        guard !source.isLocal, !plan.settings.rules.changesBodies, plan.request.isPlainGet else { return nil }
        return EarlyInspection(plan) { [audience] in audience.limits(of: key) }
    }

    /// Returns whether data must not be stored for the URL of the request, because it comes from an alternative whose
    /// response never becomes stale, or that was contacted with cookies or other secrets that aren't part of the key.
    private func isSubstitute(
        _ source: FetchSource, _ request: LoadRequest, _ head: StoredResponseHead?, _ plan: RequestPlan
    ) -> Bool {
        guard source.isAlternative else { return false }
        guard head != nil, !plan.isLocal else { return true }
        let changed = plan.settings.rules.headerIdentity
        return plan.defaults.access(of: plan.request, to: request.url, changed: changed) != plan.keys.access
    }

    /// Checks the data itself, because the Content-Type can be wrong.
    private func inspect(
        _ response: LoadResponse, _ head: StoredResponseHead?, _ plan: RequestPlan, _ key: FetchKey,
        isSubstitute: Bool
    ) async throws(ImageError) -> OriginalData {
        let options = plan.request.hintedOptions
        do throws(ImageError) {
            return try await workers.inspect(byteCount: response.body.count, limits: plan.limits) {
                [originalInfos] _ throws(ImageError) -> OriginalData in
                // Each request that shares the load checks its own limits.
                let probe = try plan.coders.inspect(
                    response.body, options: options, limits: .unlimited, anySize: true)
                // Without a length, a missing end marker means that the response may be truncated.
                let mayBeTruncated = !response.hasKnownLength && probe?.isTruncated == true
                let originalInfo = originalInfos.record(
                    for: key.data, response.body, head: head, isSubstitute: isSubstitute || mayBeTruncated)
                return OriginalData(
                    data: response.body, originalInfo: originalInfo, probe: probe,
                    origin: head == nil ? .local : .network,
                    generation: key.generation, exchange: key.exchange, settings: plan.settings,
                    mayBeReused: plan.http.allowsStoring(originalInfo),
                    metrics: response.metrics,
                    isLengthKnown: response.hasKnownLength, charge: response.charge)
            }
        } catch {
            throw error.addingResponse(head?.head).after(response.metrics)
        }
    }

    private func made(_ plan: RequestPlan, _ key: FetchKey) async throws(ImageError) -> OriginalData {
        guard let make = plan.request.maker else { throw .request(.noOriginalData) }
        let span = plan.trace?.begin(.load, cacheKey: key.data)
        let image: DecodedImage
        do {
            image = try await make()
            try Task.checkCancellation()
        } catch {
            let failure = ImageError.RequestFailure.source(error)
            span?.end { $0.error = failure }
            throw failure
        }
        span?.end { event in
            event.imageSize = image.size
            event.source = .local
        }
        try plan.limits.check(result: image)
        let original = OriginalData(image, key: key.data, generation: key.generation, exchange: key.exchange)
        inFlight.add(original, for: key.data)
        return original
    }

    // MARK: - Reporting

    private func counted(
        _ plan: RequestPlan, _ source: FetchSource, _ transfer: TransferTrace?,
        _ body: () async throws(ImageError) -> LoadResponse
    ) async throws(ImageError) -> LoadResponse {
        let isRemote = !source.isLocal
        counters.loads.add(1, ordering: .relaxed)
        if isRemote { activity.change(by: 1) }
        defer { if isRemote { activity.change(by: -1) } }
        let span = plan.trace?.begin(.load, cacheKey: plan.keys.data)
        do throws(ImageError) {
            let response = try await body()
            if isRemote { conditions.recordDownload(response.metrics) }
            counters.bytesLoaded.add(response.body.count, ordering: .relaxed)
            transfer?.end(bytes: response.body.count, error: nil)
            span?.end { event in
                event.byteCount = response.body.count
                event.source = isRemote ? .network : .local
            }
            return response
        } catch {
            transfer?.end(bytes: nil, error: error)
            span?.end { $0.error = error }
            throw error
        }
    }
}

extension NetworkConditions {
    fileprivate func recordDownload(_ metrics: NetworkMetrics) {
        guard !metrics.protocolName.isEmpty else { return }
        let start = max(metrics.connect, metrics.tlsHandshake)
        recordDownload(byteCount: metrics.receivedByteCount, duration: metrics.total - start)
    }
}
