// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// What makes two fetches one: the same bytes, asked for under the same conditions and limits.
struct FetchKey: Hashable, Sendable {
    let data: CacheKey
    let conditions: HTTPFields
    let maxBytes: Int
    let timeouts: LoadTimeouts?
    /// The fields sent, where they were found to choose the answer; nil while nothing is known.
    let selecting: HTTPFields?
    /// Whose opinion of the bytes is asked, where it is not the registry's.
    let coder: String?
}

/// What makes two looks at the disk one.
struct LookUpKey: Hashable, Sendable {
    let data: CacheKey
    let selecting: HTTPFields
    let cache: ObjectIdentifier
    let tiers: CacheTiers
    let coder: String?
}

/// What becomes of the bytes that are asked for.
enum FetchUse: Equatable {
    /// A picture is made of them, and of their beginnings where previews may be shown.
    case picture(showsPreviews: Bool)
    /// They are wanted as they are.
    case bytes
}

/// What a loader brought.
enum Fetched: Sendable {
    /// `ahead` are decoders that have taken the beginning.
    case original(Original, ahead: [StreamKey: StreamedDecode] = [:])
    case notModified(StoredHead, LoadMetrics)
}

extension Engine {
    // MARK: - Disk

    /// Bytes that were downloaded after `plan` was made, for another request that is still at work on them: they are as
    /// new as any that could be asked for now, whatever the policy.
    func justArrived(_ plan: RequestPlan) -> Original? {
        guard let original = originals[plan.keys.data], plan.asked <= original.arrived,
            plan.accepts(original.resource)
        else { return nil }
        return original
    }

    /// Original bytes at hand: those that other requests are working on, else those on disk; nil where there are none.
    /// Never throws: a cache that fails is a miss.
    func lookUp(_ plan: RequestPlan, priority: LivePriority) async -> Original? {
        // What may not be stored is for those alone who asked before it came.
        if let original = originals[plan.keys.data], plan.allowsStoring(original.resource),
            original.resource.head.map(plan.selects) ?? true
        {
            return original
        }
        let cache = plan.originalCache
        let tiers = plan.request.originalReads
        guard !plan.isOnThisMachine, cache.mayContain(plan.keys.data, in: tiers) else { return nil }
        let limits = plan.limits
        let key = LookUpKey(
            data: plan.keys.data, selecting: plan.selecting, cache: ObjectIdentifier(cache), tiers: tiers,
            coder: plan.request.coder?.identifier)
        let found = try? await lookups.value(for: key, priority: priority) {
            [workers, resources] _ in
            let span = plan.trace?.begin(.disk, key: key.data)
            let found = await cache.entry(for: key.data, matching: key.selecting, in: tiers)
            span?.end { event in
                event.bytes = found?.entry.payload.count
                event.origin = found.map { .stored(in: $0.kind) }
            }
            guard let found else { return .success(nil) }
            let entry = found.entry
            let read = try? await workers.look(byteCount: entry.payload.count, limits: limits) {
                _ throws(ImageError) -> Original in
                let resource = resources.record(for: plan.keys.data, entry.payload, head: entry.head)
                let probe: ImageProbe? =
                    if let probe = entry.probe { probe } else {
                        try plan.coders.inspect(entry.payload, options: plan.request.hintedOptions, limits: .unlimited)
                    }
                return Original(
                    data: entry.payload, resource: resource, probe: probe, origin: .stored(in: found.kind),
                    isStored: true)
            }
            return .success(read)
        }
        return found ?? nil
    }

    /// Whether a stale picture may stand in for an answer that cannot be had.
    func mayServeStale(_ resource: ResourceRecord, _ plan: RequestPlan, instead error: ImageError) -> Bool {
        if plan.policy == .refresh { return true }
        // A failure that is remembered says as much of the server as it did when it was new.
        guard case .network(let failure) = error.remembered ?? error else { return false }
        return plan.allowsStale(resource, instead: failure)
    }

    func discard(_ original: Original, _ plan: RequestPlan) async {
        guard original.isFromCache else { return }
        await plan.originalCache.remove(plan.keys.data, matching: plan.selecting)
    }

    /// Stores original bytes, once, where request and server allow it. Called after they made a picture: bytes that
    /// do not decode never replace good ones.
    /// `image` is the picture that was made of them, nil where only the bytes were wanted.
    func keep(_ original: Original, _ image: Image?, _ plan: RequestPlan) async {
        guard !plan.isOnThisMachine, plan.allowsStoring(original.resource), original.claimStoring(),
            let payload = await serialized(original, image, plan)
        else { return }
        let entry = DiskEntry(
            key: plan.keys.data, head: original.resource.head, probe: payload.isOriginal ? original.probe : nil,
            payload: payload.data, tags: plan.request.tags, stored: plan.now)
        let span = plan.trace?.begin(.store, key: plan.keys.data)
        await plan.originalCache.store(entry, request: plan.selecting, in: plan.request.originalStores)
        span?.end { $0.bytes = payload.data.count }
    }

    /// What is stored of `original`: its bytes, or what the app's own serializer makes of them; nil for nothing.
    private func serialized(
        _ original: Original, _ image: Image?, _ plan: RequestPlan
    ) async -> (data: Data, isOriginal: Bool)? {
        guard let serialize = configuration.serialize else { return (original.data, true) }
        let request = plan.request
        let made = try? await workers.run(cost: 0, priority: LivePriority(.low), limits: plan.limits) {
            _ throws(ImageError) -> Data? in serialize(image, original.data, request)
        }
        guard let data = made ?? nil else { return nil }
        return (data, data == original.data)
    }

    // MARK: - Loader

    /// Asks the source: with the conditions of what is known of it, else for the whole.
    ///
    /// - Parameter use: what becomes of the bytes.
    func ask(
        _ plan: RequestPlan, stored: Original?, known: Image?, task: ImageTask, for use: FetchUse
    ) async throws(ImageError) -> Obtained {
        let usable = stored?.resource ?? known?.resource
        let conditions = usable.flatMap { plan.conditions(for: $0) }
        do throws(ImageError) {
            if let failure = rememberedFailure(plan) { throw failure }
            var fetched = try await fetch(plan, conditions ?? HTTPFields(), task, for: use)
            if case .original(let original, _) = fetched, !plan.accepts(original.resource) {
                // What another request was given, and Vary says that this one would be given something else.
                fetched = try await fetch(plan, conditions ?? HTTPFields(), task, selecting: plan.selecting, for: use)
            }
            failures.forget(plan.keys.data)
            switch fetched {
            case .original(let original, let ahead):
                return .bytes(original, ahead: ahead.isEmpty ? nil : ahead[StreamKey(plan)])
            case .notModified(let head, let metrics):
                guard let usable else { throw .network(unaskedNotModified(plan)) }
                let merged = usable.confirm(with: head, plan)
                await plan.originalCache.updateHead(merged, for: plan.keys.data, matching: plan.selecting)
                return .confirmed(usable, stored: stored, metrics: metrics)
            }
        } catch {
            note(error, plan)
            guard !error.isCancelled, stored != nil || known != nil else { throw error }
            return .unreachable(error, stored: stored)
        }
    }

    /// The failure that answers this request without anybody being asked.
    private func rememberedFailure(_ plan: RequestPlan) -> ImageError? {
        guard !plan.request.ignoresFailures, plan.request.alternatives.isEmpty, plan.policy != .reload,
            plan.policy != .refresh
        else { return nil }
        return failures.failure(for: plan.keys.data)?.answer
    }

    /// Remembers why there is no picture, where that will still be so in a while.
    func note(_ error: ImageError, _ plan: RequestPlan) {
        if !plan.isOnThisMachine { failures.note(error, for: plan.keys.data) }
    }

    /// One load for all who ask the same.
    private func fetch(
        _ plan: RequestPlan, _ conditions: HTTPFields, _ task: ImageTask, selecting: HTTPFields? = nil,
        for use: FetchUse
    ) async throws(ImageError) -> Fetched {
        let key = FetchKey(
            data: plan.keys.data, conditions: conditions, maxBytes: plan.limits.maxEncodedBytes,
            timeouts: plan.request.timeouts, selecting: selecting, coder: plan.request.coder?.identifier)
        let showsPreviews = use == .picture(showsPreviews: true) && plan.request.preview.style != .none
        let listening = showsPreviews ? listen(to: key, plan, task) : nil
        let wish = use == .bytes ? nil : wish(key, plan)
        defer {
            listening?.end()
            wish?.end()
        }
        return try await fetches.value(
            for: key, priority: task.livePriority, onUpdate: { task.emit($0.event) }
        ) { context in
            do throws(ImageError) {
                return .success(try await self.load(plan, conditions, key, context))
            } catch {
                return .failure(error)
            }
        }
    }

    private func load(
        _ plan: RequestPlan, _ conditions: HTTPFields, _ key: FetchKey,
        _ context: SharedJobs<FetchKey, Fetched, LoadUpdate>.Context
    ) async throws(ImageError) -> Fetched {
        // Another load may have ended since this one was found to be needed.
        if let original = justArrived(plan) { return .original(original) }
        if let make = plan.request.maker { return .original(try await made(by: make, plan)) }
        let url = plan.request.url
        try configuration.checkScheme(of: plan.request)
        guard let loader = plan.request.loader ?? loaders.last(where: { $0.canLoad(url) }) else {
            throw .request(.unsupportedScheme(url.scheme ?? ""))
        }
        let meter = LoadMeter(
            interval: configuration.downloader.minimumProgressInterval, now: configuration.now
        ) { context.report(.progress($0)) }
        let asked = configuration.now()
        let previewing = PreviewSession(previews, key, context.priority)
        defer { previewing.end() }
        let streaming = configuration.decodesWhileLoading ? streams.feed(key, context.priority) : nil
        defer { streaming?.end() }
        let transfer = TransferTrace(plan.trace)
        let loading = LoadContext(priority: context.priority.value) { report in
            if let transfer, case .started = report { transfer.start() }
            previewing.take(report)
            streaming?.take(report)
            meter.take(report)
        }
        let token = context.priority.observe { loading.priority = context.priority.value }
        defer { context.priority.stopObserving(token) }
        loading.priority = context.priority.value
        if let reason = waitReason(of: loader, plan) { context.report(.waiting(reason)) }
        let answer = try await counted(plan, transfer) { () async throws(ImageError) in
            try await loader.load(loadRequest(plan, conditions), context: loading)
        }
        previewing.end()
        meter.finish()
        // What is on this machine has no server that could be asked again, whatever its loader says of it.
        let told = plan.isOnThisMachine ? nil : answer.head
        let head = told.map { head in
            var stored = StoredHead(
                request: plan.selecting, response: head, finalURL: answer.finalURL.absoluteString,
                requestTime: meter.started ?? asked, responseTime: meter.head ?? configuration.now())
            stored.varying = StoredHead.selecting(
                request: plan.selecting, response: head.fields, separating: plan.separating)
            return stored
        }
        if answer.isNotModified, let head { return .notModified(head, answer.metrics) }
        let ahead = await streaming?.finish() ?? [:]
        let original = try await inspect(answer, head, plan)
        originals.add(original, for: plan.keys.data)
        return .original(original, ahead: ahead)
    }

    private func loadRequest(_ plan: RequestPlan, _ conditions: HTTPFields) -> LoadRequest {
        var request = LoadRequest(
            url: plan.request.url, fields: plan.request.fields, maxBytes: plan.limits.maxEncodedBytes,
            acceptsNotModified: !conditions.lines.isEmpty, timeouts: plan.request.timeouts)
        request.network = plan.request.network
        request.retry = plan.request.retry
        request.alternatives = plan.request.alternatives
        for line in conditions.lines { request.fields.append(name: line.name, value: line.value) }
        if plan.policy == .reload { request.fields["Cache-Control"] = request.fields["Cache-Control"] ?? "no-cache" }
        return request
    }

    /// The bytes decide what came, not the Content-Type.
    private func inspect(
        _ answer: LoadResponse, _ head: StoredHead?, _ plan: RequestPlan
    ) async throws(ImageError) -> Original {
        let options = plan.request.hintedOptions
        do throws(ImageError) {
            return try await workers.look(byteCount: answer.body.count, limits: plan.limits) {
                [resources] context throws(ImageError) -> Original in
                let probe = try plan.coders.inspect(answer.body, options: options, limits: context.limits)
                let resource = resources.record(for: plan.keys.data, answer.body, head: head)
                return Original(
                    data: answer.body, resource: resource, probe: probe, origin: head == nil ? .local : .network,
                    metrics: answer.metrics, isLengthKnown: answer.isLengthKnown)
            }
        } catch {
            throw error.told(by: head?.head).after(answer.metrics)
        }
    }

    private func unaskedNotModified(_ plan: RequestPlan) -> NetworkError {
        NetworkError(
            .badServerResponse, url: plan.request.url.absoluteString, phase: .head, status: 304,
            detail: "304 without a condition")
    }
}
