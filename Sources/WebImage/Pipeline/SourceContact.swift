// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The outcome of the search for the data of a request.
///
/// The cases are indirect because every function of a waiting request reserves space for its result.
indirect enum DataLookupResult: Sendable {
    /// Fresh or new data, which serves the request. `ahead` is a decoder that has received the beginning of the data.
    case bytes(OriginalData, ahead: IncrementalDecode? = nil, metrics: NetworkMetrics? = nil)
    /// Data that the server revalidated (304). `stored` is the data if a cache contains it.
    case confirmed(OriginalInfo, stored: OriginalData?, metrics: NetworkMetrics)
    /// A failed request to the server. `stored` is stale data if a cache contains it.
    case failed(ImageError, stored: OriginalData?)
}

/// The part of a request that contacts the sources, because no cached data serves the request.
final class SourceContact: Sendable {
    /// The images that the request already has.
    struct Images {
        let known: DecodedImage?
        let delivered: DecodedImage?
    }

    private let plan: RequestPlan
    private let task: ImageTask
    private let pipeline: ImagePipeline
    private let generation: CacheGeneration

    init(_ plan: RequestPlan, _ task: ImageTask, _ generation: CacheGeneration, _ pipeline: ImagePipeline) {
        self.plan = plan
        self.task = task
        self.generation = generation
        self.pipeline = pipeline
    }

    /// Contacts the source while the lookup of a slow tier continues, if there's one. The first usable result counts.
    func contact(
        stored: OriginalData?, _ late: HedgedLookup<OriginalData>?, _ images: Images, for use: FetchStage.Purpose
    ) async throws(ImageError) -> DataLookupResult {
        guard let late else { return try await contact(stored: stored, images, for: use) }
        let (result, rejected) = await late.race { () async throws(ImageError) -> DataLookupResult in
            try await self.contact(stored: nil, images, for: use)
        } accept: { [plan] found in
            let step = plan.claim(plan.http.decision(for: found.originalInfo), of: found.originalInfo)
            return step == .use ? .bytes(found) : nil
        }
        switch (result, rejected) {
        case (.success(.failed(let error, nil)), let stale?): return .failed(error, stored: stale)
        case (.failure(let error), let stale?) where error != .cancelled: return .failed(error, stored: stale)
        default: return try result.get()
        }
    }

    private func contact(
        stored: OriginalData?, _ images: Images, for use: FetchStage.Purpose
    ) async throws(ImageError) -> DataLookupResult {
        // A request that needs both the image and the data can't be served by a revalidated image alone.
        let image = use == .bytes || plan.request.includesOriginalData ? nil : images.delivered ?? images.known
        let basis = stored?.originalInfo ?? image?.originalInfo
        var step = basis.map(plan.http.step) ?? plan.http.stepWithoutStored
        // The conditions of a revalidation have another meaning for other methods (RFC 9110 13.1).
        if step.servesRequest || !plan.request.isPlainGet { step = plan.http.stepWithoutStored }
        guard step != .gatewayTimeout else { throw .cache(.notInCache) }
        let stale = use == .bytes ? stored?.originalInfo : images.delivered?.originalInfo ?? stored?.originalInfo
        do throws(ImageError) {
            if let failure = pipeline.failures.failure(plan) { throw failure }
            return try await contact(step, basis, stored, use, replacing: stale)
        } catch {
            guard error != .cancelled, stored != nil || image != nil else { throw error }
            return .failed(error, stored: stored)
        }
    }

    /// Contacts the source for `step`. `stale` is the data that can serve the request if the source fails.
    private func contact(
        _ step: CacheAction, _ basis: OriginalInfo?, _ stored: OriginalData?, _ use: FetchStage.Purpose,
        replacing stale: OriginalInfo?
    ) async throws(ImageError) -> DataLookupResult {
        switch try await fetch(step, use, replacing: stale) {
        case .original(let original, let ahead, let metrics):
            return .bytes(original, ahead: ahead.isEmpty ? nil : ahead[IncrementalDecodeKey(plan)], metrics: metrics)
        case .refused(let original, let error):
            await keep(original)
            throw error
        case .notModified(let head, let metrics):
            let confirmed = try await confirmed(head, metrics, step, basis, stored)
            if let confirmed { return confirmed }
            // The 304 response refers to other data than the cached data. The next request is unconditional, so it
            // can't cause another 304 response.
            return try await contact(plan.http.stepWithoutStored, nil, nil, use, replacing: stale)
        }
    }

    /// Stores data that the request can't use, for later requests.
    ///
    /// The header of complete data was checked, as for a request that doesn't decode its data. If a truncated response
    /// wouldn't have been detected, the data must have been decoded.
    @inline(never)
    func keep(_ original: OriginalData, wasDecoded: Bool = false) async {
        guard original.isLengthKnown || wasDecoded else { return }
        await pipeline.storing.store(original, nil, plan, generation)
        if plan.request.caching.waitsUntilStored { await plan.originalCache.flush() }
    }

    /// Returns the result of a 304 response, or `nil` if the request must be repeated unconditionally.
    ///
    /// It isn't inlined because its variables would then be part of the frame of the waiting function.
    @inline(never)
    private func confirmed(
        _ head: StoredResponseHead, _ metrics: NetworkMetrics, _ step: CacheAction, _ basis: OriginalInfo?,
        _ stored: OriginalData?
    ) async throws(ImageError) -> DataLookupResult? {
        switch (plan.http.outcome(.response(head.head), of: step, stored: basis), basis) {
        case (.revalidated, let basis?):
            let merged = basis.confirm(with: head, plan)
            plan.defaults.recentResponses.record(merged, for: plan.keys.data)
            await plan.originalCache.updateHead(
                merged, for: plan.keys.data, matching: plan.http.selectingHeaders, generation)
            return .confirmed(basis, stored: stored, metrics: metrics)
        case (.repeatUnconditionally, _): return nil
        default: throw .network(plan.unexpectedNotModified)
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
        let sources = try Sources(pipeline.fetch, plan, step, stale)
        while true {
            let source = sources.current
            do throws(ImageError) {
                let fetched = try await pipeline.fetch.fetch(source, plan, generation, task: task, for: use)
                pipeline.failures.remove(plan, source)
                return sources.completed(fetched)
            } catch {
                record(error, of: source)
                try sources.advance(after: error)
            }
        }
    }

    /// The sources of a request that are still to be tried.
    ///
    /// They're in an object, and its methods aren't inlined, because the frame of the waiting function would contain
    /// their values.
    private final class Sources {
        private let plan: RequestPlan
        private let stale: OriginalInfo?
        private var all: AlternativeSequence
        /// The sources before the first local alternative, or `nil` if no stale data can serve the request.
        private var withoutLocal: AlternativeSequence?

        init(
            _ stage: FetchStage, _ plan: RequestPlan, _ step: CacheAction, _ stale: OriginalInfo?
        ) throws(ImageError) {
            self.plan = plan
            self.stale = stale
            all = try stage.sources(plan, step)
            withoutLocal = stale == nil ? nil : try stage.sources(plan, step, beforeLocal: true)
        }

        var current: LoadRequest { all.current }

        @inline(never)
        func completed(_ result: FetchResult) -> FetchResult { result.completed(all) }

        /// Throws the error of the request if no source is left, or if stale data serves the request.
        @inline(never)
        func advance(after error: ImageError) throws(ImageError) {
            do throws(ImageError) {
                try withoutLocal?.advance(after: error)
            } catch let last {
                // This error contains the failures of all sources so far.
                if let stale, plan.http.usesStale(stale, insteadOf: error) { throw last }
            }
            try all.advance(after: error)
        }
    }

    /// Remembers a failure unless the key was removed in the meantime.
    func record(_ error: ImageError, of source: LoadRequest?) {
        guard plan.originalCache.generation(of: plan.keys.data) == generation else { return }
        pipeline.failures.record(error, plan, source)
    }
}

extension RequestPlan {
    fileprivate var unexpectedNotModified: ImageError.NetworkFailure {
        ImageError.NetworkFailure(
            .badServerResponse, url: request.url, phase: .waitingForResponse, statusCode: 304,
            details: "status 304, but the request wasn't conditional")
    }
}
