// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// What makes two decodes or transforms one: the same step of the same bytes under the same limits.
struct ImageKey: Hashable, Sendable {
    let step: CacheKey
    let bytes: ContentDigest
    let limits: Limits

    init(_ plan: RequestPlan, step: Int, of original: OriginalData) {
        self.step = plan.keys.steps[step]
        bytes = original.resource.digest
        limits = plan.limits
    }
}

/// An image and what it cost.
struct MadeImage: Sendable {
    let image: Image
    var decodeSeconds = 0.0
    var transformSeconds = 0.0
}

/// Bytes to pixels at the requested size: probe, limits, budget, coder; each decode once for all who want it.
final class DecodeStage: Sendable {
    private let jobs = SharedJobs<ImageKey, MadeImage, Never>()
    private let workers: WorkerPool
    private let memory: MemoryStage
    private let counters: ManagerCounters
    private let preparation: PixelPreparation
    private let pressure: MemoryPressureSource

    init(
        workers: WorkerPool, memory: MemoryStage, counters: ManagerCounters, preparation: PixelPreparation,
        pressure: MemoryPressureSource
    ) {
        self.workers = workers
        self.memory = memory
        self.counters = counters
        self.preparation = preparation
        self.pressure = pressure
    }

    /// Decodes that run.
    var count: Int { jobs.count }
    /// How often a running decode was joined.
    var sharedCount: Int { jobs.sharedCount }

    /// The decoded image of `original`, before the transformers. `ahead` is a decoder that has the beginning of the
    /// bytes already.
    func image(
        _ original: OriginalData, _ ahead: StreamedDecode?, _ plan: RequestPlan, priority: LivePriority
    ) async throws(ImageError) -> MadeImage {
        let key = ImageKey(plan, step: 0, of: original)
        return try await jobs.value(for: key, priority: priority) { context in
            // Made before, by a job that has just ended or for another request.
            if let image = original.image(for: key) ?? self.memory.step(key, plan) {
                return .success(MadeImage(image: image))
            }
            do throws(ImageError) {
                let made = try await self.decode(original, ahead, plan, context.priority)
                // An intermediate step is never displayed.
                if plan.transformers.isEmpty { self.preparation(made.image.pixels) }
                original.remember(made.image, for: key)
                return .success(made)
            } catch {
                return .failure(error)
            }
        }
    }

    private func decode(
        _ original: OriginalData, _ ahead: StreamedDecode?, _ plan: RequestPlan, _ priority: LivePriority
    ) async throws(ImageError) -> MadeImage {
        let start = ContinuousClock.now
        let options = plan.request.hintedOptions
        if let image = original.image { return try await fitted(image, plan, priority) }
        let cost = Self.cost(original.probe, options)
        try checkMemory(cost)
        let image = try await workers.run(cost: cost, priority: priority, limits: plan.limits) {
            [counters] context throws(ImageError) -> Image in
            let image = try plan.trace.work(.decode, key: plan.keys.decoded, describe: { $1.size = $0.size }) {
                () throws(ImageError) in
                if let image = try ahead?.finish(original.data, probe: original.probe, context: context) {
                    counters.streamed.add(1, ordering: .relaxed)
                    return image.with(provenance: original.resource)
                }
                return try plan.coders.decode(original.data, options: options, context: context)
                    .with(provenance: original.resource)
            }
            counters.decodes.add(1, ordering: .relaxed)
            return image
        }
        return MadeImage(image: image, decodeSeconds: start.duration(to: .now) / .seconds(1))
    }

    /// An image that the application made, at the requested size.
    private func fitted(
        _ image: Image, _ plan: RequestPlan, _ priority: LivePriority
    ) async throws(ImageError) -> MadeImage {
        guard let size = plan.request.size else { return MadeImage(image: image) }
        let start = ContinuousClock.now
        let scale = plan.request.scale
        let fitted = try await workers.run(cost: image.pixels.byteCount, priority: priority, limits: plan.limits) {
            context throws(ImageError) -> Image in
            try ResizeTransformer(to: size).apply(
                to: image, context: TransformContext(scale: scale, coding: context))
        }
        return MadeImage(image: fitted, decodeSeconds: start.duration(to: .now) / .seconds(1))
    }

    /// While processes are about to be killed, large images would be what kills this one.
    private func checkMemory(_ cost: Int) throws(ImageError) {
        guard let limit = pressure.level.decodedBytesLimit, cost > limit else { return }
        throw .limit(LimitError(.decodedBytes, limit: limit, actual: cost, detail: "memory is short"))
    }

    /// Bytes of pixels a decode is going to hold, for the budget. Formats that reduce while decoding need at most
    /// four times the result (twice its sides); others hold the whole image.
    private static func cost(_ probe: ImageProbe?, _ options: DecodeOptions) -> Int {
        guard let probe, let area = probe.rawSize.area else { return 0 }
        let full = area.multipliedReportingOverflow(by: 4)
        let whole = full.overflow ? Int.max / 2 : full.partialValue
        guard let plan = try? options.size?.plan(for: probe.size, scale: options.scale),
            probe.format == .jpeg || probe.format == .webp, let output = plan.output.area
        else { return whole }
        return min(whole, output.multipliedReportingOverflow(by: 20).partialValue)
    }
}
