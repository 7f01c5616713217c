// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// What makes two fetches one: everything that changes what is sent or accepted, and what the bytes are checked by.
struct FetchKey: Hashable, Sendable {
    let data: CacheKey
    let exchange: ExchangeKey
    let loader: LoaderIdentity
    let timeouts: LoadTimeouts?
    /// Whose opinion of the bytes is asked, where it is not the registry's.
    let coder: String?
    let formatHint: ImageFormat?
    /// The removals of the key before the fetch: what was removed is loaded again.
    let generation: CacheGeneration
}

/// What a loader brought.
enum Fetched: Sendable {
    /// `ahead` are decoders that have the beginning of the bytes already; `metrics` are nil where there was no load.
    case original(OriginalData, ahead: [StreamKey: StreamedDecode], metrics: LoadMetrics?)
    case notModified(StoredHead, LoadMetrics)

    /// The same with the attempts of a request at earlier sources.
    func completed(_ sources: AlternativeSequence) -> Fetched {
        switch self {
        case .original(let original, let ahead, let metrics):
            .original(original, ahead: ahead, metrics: metrics.map(sources.completing))
        case .notModified(let head, let metrics): .notModified(head, sources.completing(metrics))
        }
    }
}

/// The loaders; each load once for all who want the same. Previews and decoding during the download listen here.
final class FetchStage: Sendable {
    /// What becomes of the bytes.
    enum Use: Equatable {
        /// An image is made of them, and of their beginnings where previews may be shown.
        case image(showsPreviews: Bool)
        /// They are wanted as they are.
        case bytes
    }

    private let jobs = SharedJobs<FetchKey, Fetched, LoadUpdate>()
    private let loaders: [any ImageLoader]
    private let rules: ExchangeRules
    private let progressInterval: Double
    private let now: @Sendable () -> Date
    private let workers: WorkerPool
    private let resources: ResourceTable
    private let inFlight: InFlightOriginals
    private let cache: CacheStage
    private let counters: ManagerCounters
    private let activity: LoadActivity
    let feeds: DownloadFeeds

    init(
        _ configuration: ImageManagerConfiguration, loaders: [any ImageLoader], rules: ExchangeRules,
        workers: WorkerPool, resources: ResourceTable, inFlight: InFlightOriginals, cache: CacheStage,
        counters: ManagerCounters, activity: LoadActivity, feeds: DownloadFeeds
    ) {
        self.loaders = loaders
        self.rules = rules
        progressInterval = configuration.downloader.minimumProgressInterval
        now = configuration.now
        self.workers = workers
        self.resources = resources
        self.inFlight = inFlight
        self.cache = cache
        self.counters = counters
        self.activity = activity
        self.feeds = feeds
    }

    /// Loads that run.
    var count: Int { jobs.count }
    /// How often a running load was joined.
    var sharedCount: Int { jobs.sharedCount }

    /// What the request asks, one after the other: its URL as `step` says, then its alternatives.
    func sources(_ plan: RequestPlan, _ step: CacheStep) throws(ImageError) -> AlternativeSequence {
        let loader = try loader(of: plan)
        let configuration = plan.defaults.configuration
        return AlternativeSequence(plan.loadRequest(step)) { url in
            loader?.canLoad(url) == true && configuration.allowsScheme(of: url)
        }
    }

    /// Asks one source.
    func fetch(
        _ request: LoadRequest, _ plan: RequestPlan, _ generation: CacheGeneration, task: ImageTask, for use: Use
    ) async throws(ImageError) -> Fetched {
        // A closure of the application is not called for a request that was given up during the lookup.
        guard !Task.isCancelled, task.result == nil else { throw .request(.cancelled) }
        let loader = try loader(of: plan)
        let key = FetchKey(
            data: plan.keys.data, exchange: ExchangeKey(request, rules: rules), loader: plan.request.loaderIdentity,
            timeouts: plan.request.timeouts, coder: plan.request.coder?.identifier,
            formatHint: plan.request.hintedOptions.formatHint, generation: generation)
        let subscription = feeds.subscribe(plan, to: key, task, for: use)
        defer { subscription?.end() }
        return try await jobs.value(
            for: key, priority: task.livePriority, onUpdate: { task.emit($0.event) }
        ) { context in
            do throws(ImageError) {
                return .success(try await self.load(plan, request, loader, key, context))
            } catch {
                return .failure(error)
            }
        }
    }

    /// The loader of the request; nil where the application makes the image itself.
    private func loader(of plan: RequestPlan) throws(ImageError) -> (any ImageLoader)? {
        guard plan.request.maker == nil else { return nil }
        let url = plan.request.url
        try plan.defaults.configuration.checkScheme(of: plan.request)
        guard let loader = plan.request.loader ?? loaders.last(where: { $0.canLoad(url) }) else {
            throw .request(.unsupportedScheme(url.scheme ?? ""))
        }
        return loader
    }

    private func load(
        _ plan: RequestPlan, _ request: LoadRequest, _ loader: (any ImageLoader)?, _ key: FetchKey,
        _ context: SharedJobs<FetchKey, Fetched, LoadUpdate>.Context
    ) async throws(ImageError) -> Fetched {
        // An equal load may have ended since this one was found to be needed. One of an alternative is not equal.
        if let original = cache.arrivedSince(plan, key.generation), original.exchange == key.exchange {
            return .original(original, ahead: [:], metrics: original.metrics)
        }
        guard let loader else {
            return .original(try await made(plan, key), ahead: [:], metrics: nil)
        }
        let meter = LoadMeter(interval: progressInterval, now: now) { context.report(.progress($0)) }
        let asked = now()
        let feed = feeds.begin(key, context.priority)
        defer { feed.end() }
        let transfer = TransferTrace(plan.trace)
        let loading = LoadContext(following: context.priority) { report in
            switch report {
            case .waiting(let reason): context.report(.waiting(reason))
            case .started: transfer?.start()
            case .head, .body: break
            }
            feed.receive(report)
            meter.take(report)
        }
        let answer = try await counted(plan, transfer) { () async throws(ImageError) in
            try await loader.load(request, context: loading)
        }
        feed.endPreviews()
        meter.finish()
        // What is local has no server that could be asked again, whatever its loader says of it.
        let head =
            plan.isLocal
            ? nil
            : answer.head.map { head in
                plan.storedHead(
                    head, of: answer, requested: meter.started ?? asked, responded: meter.head ?? now())
            }
        if answer.isNotModified, let head { return .notModified(head, answer.metrics) }
        let ahead = await feed.finish()
        let original = try await inspect(answer, head, plan, key)
        inFlight.add(original, for: plan.keys.data)
        return .original(original, ahead: ahead, metrics: answer.metrics)
    }

    /// The bytes decide what came, not the Content-Type.
    private func inspect(
        _ answer: LoadResponse, _ head: StoredHead?, _ plan: RequestPlan, _ key: FetchKey
    ) async throws(ImageError) -> OriginalData {
        let options = plan.request.hintedOptions
        do throws(ImageError) {
            return try await workers.look(byteCount: answer.body.count, limits: plan.limits) {
                [resources] context throws(ImageError) -> OriginalData in
                let probe = try plan.coders.inspect(answer.body, options: options, limits: context.limits)
                let resource = resources.record(for: key.data, answer.body, head: head)
                return OriginalData(
                    data: answer.body, resource: resource, probe: probe, origin: head == nil ? .local : .network,
                    generation: key.generation, exchange: key.exchange, mayBeReused: plan.allowsStoring(resource),
                    metrics: answer.metrics,
                    isLengthKnown: answer.isLengthKnown)
            }
        } catch {
            throw error.told(by: head?.head).after(answer.metrics)
        }
    }

    /// Has the application make the image.
    private func made(_ plan: RequestPlan, _ key: FetchKey) async throws(ImageError) -> OriginalData {
        guard let make = plan.request.maker else { throw .request(.noOriginal) }
        let span = plan.trace?.begin(.load, key: key.data)
        let image: Image
        do {
            image = try await make()
            try Task.checkCancellation()
        } catch {
            let failure = RequestError.source(error)
            span?.end { $0.error = failure }
            throw failure
        }
        span?.end { event in
            event.size = image.size
            event.origin = .local
        }
        try plan.limits.check(result: image)
        let original = OriginalData(image, key: key.data, generation: key.generation, exchange: key.exchange)
        inFlight.add(original, for: key.data)
        return original
    }

    // MARK: - What is told about a load

    /// Runs a load between two events and counts it.
    private func counted(
        _ plan: RequestPlan, _ transfer: TransferTrace?, _ body: () async throws(ImageError) -> LoadResponse
    ) async throws(ImageError) -> LoadResponse {
        let isRemote = !plan.isLocal
        counters.loads.add(1, ordering: .relaxed)
        if isRemote { activity.change(by: 1) }
        defer { if isRemote { activity.change(by: -1) } }
        let span = plan.trace?.begin(.load, key: plan.keys.data)
        do throws(ImageError) {
            let answer = try await body()
            counters.bytesLoaded.add(answer.body.count, ordering: .relaxed)
            transfer?.end(bytes: answer.body.count, error: nil)
            span?.end { event in
                event.bytes = answer.body.count
                event.origin = isRemote ? .network : .local
            }
            return answer
        } catch {
            transfer?.end(bytes: nil, error: error)
            span?.end { $0.error = error }
            throw error
        }
    }
}

extension RequestPlan {
    /// The request that is sent for `step`.
    func loadRequest(_ step: CacheStep) -> LoadRequest {
        switch step {
        case .revalidate(let fields):
            var request = loadRequest(fields)
            request.acceptsNotModified = true
            return request
        case .fetch(let fields): return loadRequest(fields)
        case .use, .useStale, .gatewayTimeout: return loadRequest(request.fields)
        }
    }

    /// The request with these header fields.
    func loadRequest(_ fields: HTTPFields) -> LoadRequest {
        var load = LoadRequest(
            url: request.url, fields: fields, maxBytes: limits.maxEncodedBytes, timeouts: request.timeouts)
        load.network = request.network
        load.retry = request.retry
        load.alternatives = request.alternatives
        return load
    }

    /// What is stored of a response's head.
    fileprivate func storedHead(
        _ head: ResponseHead, of response: LoadResponse, requested: Date, responded: Date
    ) -> StoredHead {
        var stored = StoredHead(
            request: selecting, response: head, finalURL: response.finalURL.absoluteString,
            requestTime: requested, responseTime: responded)
        stored.varying = StoredHead.selecting(request: selecting, response: head.fields, separating: separating)
        // A redirect without freshness is asked again although its target is fresh (RFC 9110 15.4.3).
        stored.limitFreshness(byRedirects: response.redirects)
        return stored
    }
}
