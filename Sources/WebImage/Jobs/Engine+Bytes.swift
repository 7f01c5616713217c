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
}

/// What a loader brought.
enum Fetched: Sendable {
    case original(Original)
    case notModified(StoredHead, LoadMetrics)
}

extension Engine {
    // MARK: - Disk

    /// Bytes that were downloaded after `plan` was made, for another request that is still at work on them: they are as
    /// new as any that could be asked for now, whatever the policy.
    func justArrived(_ plan: RequestPlan) -> Original? {
        guard let original = originals[plan.keys.data], plan.asked <= original.arrived else { return nil }
        return original
    }

    /// Original bytes at hand: those that other requests are working on, else those on disk; nil where there are none.
    /// Never throws: a cache that fails is a miss.
    func lookUp(_ plan: RequestPlan, priority: LivePriority) async -> Original? {
        if let original = originals[plan.keys.data] { return original }
        guard let disk, !plan.isOnThisMachine, disk.mayContain(plan.keys.data) else { return nil }
        let limits = plan.limits
        let found = try? await lookups.value(for: plan.keys.data, priority: priority) {
            [workers, configuration, resources] _ in
            guard let entry = await disk.entry(for: plan.keys.data) else { return .success(nil) }
            let read = try? await workers.look(byteCount: entry.payload.count, limits: limits) {
                _ throws(ImageError) -> Original in
                let resource = resources.record(for: plan.keys.data, entry.payload, head: entry.head)
                let probe: ImageProbe? =
                    if let probe = entry.probe { probe } else {
                        try configuration.coders.inspect(entry.payload, limits: .unlimited)
                    }
                return Original(data: entry.payload, resource: resource, probe: probe, origin: .disk, isStored: true)
            }
            return .success(read)
        }
        return found ?? nil
    }

    /// Whether a stale picture may stand in for an answer that cannot be had.
    func mayServeStale(_ resource: ResourceRecord, _ plan: RequestPlan, instead error: ImageError) -> Bool {
        if plan.policy == .refresh { return true }
        guard case .network(let failure) = error else { return false }
        return plan.allowsStale(resource, instead: failure)
    }

    func discard(_ original: Original, _ plan: RequestPlan) {
        if original.origin == .disk { disk?.remove(plan.keys.data) }
    }

    /// Stores original bytes, once, where request and server allow it. Called after they made a picture: bytes that
    /// do not decode never replace good ones.
    func keep(_ original: Original, _ plan: RequestPlan) {
        guard let disk, !plan.isOnThisMachine, plan.request.originalStores.contains(.disk),
            plan.allowsStoring(original.resource), original.claimStoring()
        else { return }
        disk.store(
            DiskEntry(
                key: plan.keys.data, head: original.resource.head, probe: original.probe, payload: original.data,
                stored: plan.now))
    }

    // MARK: - Loader

    /// Asks the source: with the conditions of what is known of it, else for the whole.
    func ask(
        _ plan: RequestPlan, stored: Original?, known: Image?, task: ImageTask
    ) async throws(ImageError) -> Obtained {
        let usable = stored?.resource ?? known?.resource
        let conditions = usable.flatMap { plan.conditions(for: $0) }
        do throws(ImageError) {
            let fetched = try await fetch(plan, conditions: conditions ?? HTTPFields(), priority: task.livePriority) {
                task.emit(.progress($0))
            }
            switch fetched {
            case .original(let original): return .bytes(original)
            case .notModified(let head, let metrics):
                guard let usable else { throw .network(unaskedNotModified(plan)) }
                let merged = usable.confirm(with: head)
                disk?.updateHead(merged, for: plan.keys.data)
                return .confirmed(usable, stored: stored, metrics: metrics)
            }
        } catch {
            guard !error.isCancelled, stored != nil || known != nil else { throw error }
            return .unreachable(error, stored: stored)
        }
    }

    /// One load for all who ask the same.
    func fetch(
        _ plan: RequestPlan, conditions: HTTPFields, priority: LivePriority,
        onProgress: @escaping @Sendable (ImageProgress) -> Void
    ) async throws(ImageError) -> Fetched {
        let key = FetchKey(
            data: plan.keys.data, conditions: conditions, maxBytes: plan.limits.maxEncodedBytes,
            timeouts: plan.request.timeouts)
        return try await fetches.value(for: key, priority: priority, onUpdate: onProgress) { context in
            do throws(ImageError) {
                return .success(try await self.load(plan, conditions, context))
            } catch {
                return .failure(error)
            }
        }
    }

    private func load(
        _ plan: RequestPlan, _ conditions: HTTPFields,
        _ context: SharedJobs<FetchKey, Fetched, ImageProgress>.Context
    ) async throws(ImageError) -> Fetched {
        let url = plan.request.url
        guard let loader = loaders.last(where: { $0.canLoad(url) }) else {
            throw .request(.unsupportedScheme(url.scheme ?? ""))
        }
        var request = LoadRequest(
            url: url, fields: plan.request.fields, maxBytes: plan.limits.maxEncodedBytes,
            acceptsNotModified: !conditions.lines.isEmpty, timeouts: plan.request.timeouts)
        request.network = plan.request.network
        request.retry = plan.request.retry
        request.alternatives = plan.request.alternatives
        for line in conditions.lines { request.fields.append(name: line.name, value: line.value) }
        if plan.policy == .reload { request.fields["Cache-Control"] = request.fields["Cache-Control"] ?? "no-cache" }
        let meter = LoadMeter(
            interval: configuration.downloader.minimumProgressInterval, now: configuration.now,
            handler: context.report)
        let asked = configuration.now()
        let loading = LoadContext(priority: context.priority.value) { meter.take($0) }
        let token = context.priority.observe { loading.priority = context.priority.value }
        defer { context.priority.stopObserving(token) }
        loading.priority = context.priority.value
        let answer = try await loader.load(request, context: loading)
        meter.finish()
        // What is on this machine has no server that could be asked again, whatever its loader says of it.
        let told = plan.isOnThisMachine ? nil : answer.head
        let head = told.map { head in
            StoredHead(
                request: request.fields, response: head, finalURL: answer.finalURL.absoluteString,
                requestTime: meter.started ?? asked, responseTime: meter.head ?? configuration.now())
        }
        if answer.isNotModified, let head { return .notModified(head, answer.metrics) }
        let original = try await inspect(answer, head, plan)
        originals[plan.keys.data] = original
        return .original(original)
    }

    /// The bytes decide what came, not the Content-Type.
    private func inspect(
        _ answer: LoadResponse, _ head: StoredHead?, _ plan: RequestPlan
    ) async throws(ImageError) -> Original {
        let options = plan.request.decodeOptions
        return try await workers.look(byteCount: answer.body.count, limits: plan.limits) {
            [configuration, resources] context throws(ImageError) -> Original in
            let probe = try configuration.coders.inspect(answer.body, options: options, limits: context.limits)
            let resource = resources.record(for: plan.keys.data, answer.body, head: head)
            return Original(
                data: answer.body, resource: resource, probe: probe, origin: head == nil ? .local : .network,
                metrics: answer.metrics, isLengthKnown: answer.isLengthKnown, isStored: false)
        }
    }

    private func unaskedNotModified(_ plan: RequestPlan) -> NetworkError {
        NetworkError(
            .badServerResponse, url: plan.request.url.absoluteString, phase: .head, status: 304,
            detail: "304 without a condition")
    }
}
