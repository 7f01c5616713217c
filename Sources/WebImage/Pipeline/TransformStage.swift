// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The stage that applies the transformers of a request in order. Concurrent work on the same step of the same data is
/// coalesced.
final class TransformStage: Sendable {
    typealias Decoder = @Sendable (SharedPriority) async throws(ImageError) -> ProcessedImage

    private let jobs = SharedJobs<ProcessingKey, ProcessedImage, Never>(cancelled: .cancelled)
    private let workers: WorkerPool
    private let counters: ManagerCounters
    private let postprocessor: PixelPostprocessor
    private let unresponsive: UnresponsiveData

    init(
        workers: WorkerPool, counters: ManagerCounters, postprocessor: PixelPostprocessor,
        unresponsive: UnresponsiveData
    ) {
        self.unresponsive = unresponsive
        self.workers = workers
        self.counters = counters
        self.postprocessor = postprocessor
    }

    var count: Int { jobs.count }
    var sharedCount: Int { jobs.sharedCount }

    /// Calls `decode` only if the result of no later step is available.
    func image(
        _ original: OriginalData, _ plan: RequestPlan, priority: SharedPriority, decode: @escaping Decoder
    ) async throws(ImageError) -> ProcessedImage {
        try await step(plan.transformers.count, original, plan, priority, decode)
    }

    private func step(
        _ index: Int, _ original: OriginalData, _ plan: RequestPlan, _ priority: SharedPriority,
        _ decode: @escaping Decoder
    ) async throws(ImageError) -> ProcessedImage {
        guard index > 0 else { return try await decode(priority) }
        let key = ProcessingKey(plan, step: index, of: original)
        return try await jobs.value(for: key, priority: priority) { context in
            // A job that has just ended or another request already made the image.
            if let image = original.image(for: key) ?? plan.imageInMemory(after: key) {
                return .success(ProcessedImage(image: image))
            }
            do throws(ImageError) {
                let base = try await self.step(index - 1, original, plan, context.priority, decode)
                let made = try await self.apply(
                    plan.transformers[index - 1], to: base, of: original, plan, context.priority)
                // Intermediate results are never displayed, so prepare only the final image.
                if index == plan.transformers.count { self.postprocessor(made.image) }
                original.remember(made.image, for: key)
                return .success(made)
            } catch {
                return .failure(error)
            }
        }
    }

    private func apply(
        _ transformer: any ImageTransformer, to base: ProcessedImage, of original: OriginalData,
        _ plan: RequestPlan, _ priority: SharedPriority
    ) async throws(ImageError) -> ProcessedImage {
        let start = ContinuousClock.now
        let scale = plan.request.scale
        let key = UnresponsiveData.Key(
            bytes: original.originalInfo.digest, subject: transformer.identifier, limits: plan.limits,
            coders: plan.settings.revision.coders)
        if let error = unresponsive.error(for: key) { throw error }
        let watched = WatchedWork(
            subject: transformer.identifier,
            whenLost: { [unresponsive] in unresponsive.record($0, for: key) })
        let image = try await workers.run(
            cost: base.image.pixels.byteCount, priority: priority, limits: plan.limits, watched: watched
        ) {
            [counters] context throws(ImageError) -> DecodedImage in
            counters.transforms.add(1, ordering: .relaxed)
            return try plan.trace.work(
                .transform, key: plan.keys.final, detail: transformer.identifier, describe: { $1.imageSize = $0.size }
            ) { () throws(ImageError) in
                let result = try transformer.apply(
                    to: base.image, context: context.with(scale: scale))
                try context.limits.check(result: result)
                return result
            }
        }
        return ProcessedImage(
            image: image, decodeSeconds: base.decodeSeconds,
            transformSeconds: base.transformSeconds + start.duration(to: .now) / .seconds(1))
    }
}
