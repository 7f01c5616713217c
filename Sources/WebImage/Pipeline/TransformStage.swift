// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The transformers of a request, one after the other; each step of the same bytes once for all who want it.
final class TransformStage: Sendable {
    typealias Decoder = @Sendable (LivePriority) async throws(ImageError) -> MadeImage

    private let jobs = SharedJobs<ImageKey, MadeImage, Never>()
    private let workers: WorkerPool
    private let memory: MemoryStage
    private let counters: ManagerCounters
    private let preparation: PixelPreparation

    init(workers: WorkerPool, memory: MemoryStage, counters: ManagerCounters, preparation: PixelPreparation) {
        self.workers = workers
        self.memory = memory
        self.counters = counters
        self.preparation = preparation
    }

    /// Steps that run.
    var count: Int { jobs.count }
    /// How often a running step was joined.
    var sharedCount: Int { jobs.sharedCount }

    /// The processed image of `original`; `decode` is called for the decoded one where no later step is there.
    func image(
        _ original: OriginalData, _ plan: RequestPlan, priority: LivePriority, decode: @escaping Decoder
    ) async throws(ImageError) -> MadeImage {
        try await step(plan.transformers.count, original, plan, priority, decode)
    }

    private func step(
        _ index: Int, _ original: OriginalData, _ plan: RequestPlan, _ priority: LivePriority,
        _ decode: @escaping Decoder
    ) async throws(ImageError) -> MadeImage {
        guard index > 0 else { return try await decode(priority) }
        let key = ImageKey(plan, step: index, of: original)
        return try await jobs.value(for: key, priority: priority) { context in
            // Made before, by a job that has just ended or for another request.
            if let image = original.image(for: key) ?? self.memory.step(key, plan) {
                return .success(MadeImage(image: image))
            }
            do throws(ImageError) {
                let base = try await self.step(index - 1, original, plan, context.priority, decode)
                let made = try await self.apply(plan.transformers[index - 1], to: base, plan, context.priority)
                // An intermediate step is never displayed.
                if index == plan.transformers.count { self.preparation(made.image.pixels) }
                original.remember(made.image, for: key)
                return .success(made)
            } catch {
                return .failure(error)
            }
        }
    }

    private func apply(
        _ transformer: any ImageTransformer, to base: MadeImage, _ plan: RequestPlan, _ priority: LivePriority
    ) async throws(ImageError) -> MadeImage {
        let start = ContinuousClock.now
        let scale = plan.request.scale
        let image = try await workers.run(cost: base.image.pixels.byteCount, priority: priority, limits: plan.limits) {
            [counters] context throws(ImageError) -> Image in
            counters.transforms.add(1, ordering: .relaxed)
            return try plan.trace.work(
                .transform, key: plan.keys.final, detail: transformer.identity, describe: { $1.size = $0.size }
            ) { () throws(ImageError) in
                let result = try transformer.apply(
                    to: base.image, context: TransformContext(scale: scale, coding: context))
                try context.limits.check(result: result)
                return result
            }
        }
        return MadeImage(
            image: image, decodeSeconds: base.decodeSeconds,
            transformSeconds: base.transformSeconds + start.duration(to: .now) / .seconds(1))
    }
}
