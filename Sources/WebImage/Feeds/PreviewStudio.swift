// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Makes pictures of what came, on worker threads.
final class PreviewStudio: Sendable {
    /// What one look gave.
    struct Outcome: Sendable {
        let maker: PreviewMaker
        /// The new preview by final key; empty where there is none.
        let images: [CacheKey: Image]
    }

    private let workers: WorkerPool
    private let coders: CoderRegistry
    private let settings: ImageManagerConfiguration.Previews
    private let preparation: PixelPreparation
    let budget: PreviewBudget

    init(
        _ configuration: ImageManagerConfiguration, _ workers: WorkerPool, _ preparation: PixelPreparation
    ) {
        self.preparation = preparation
        self.workers = workers
        coders = configuration.coders
        settings = configuration.previews
        budget = PreviewBudget(limit: settings.memoryBudget)
    }

    /// Part of a download after which no preview is begun.
    var latest: Double { settings.latest }

    /// Seconds of the clock by which intervals are measured.
    func time() -> Double { settings.clock.uptime() }

    /// Lets `maker` look at `bytes`, and transforms what it sees for every one of `plans`.
    ///
    /// - Returns: nil where it did not begin: cancelled before, or no thread to be had.
    func make(
        _ maker: PreviewMaker, _ bytes: PreviewMaker.Bytes, for plans: [RequestPlan], priority: RequestPriority
    ) async -> Outcome? {
        try? await workers.run(cost: maker.cost, priority: LivePriority(priority), limits: maker.key.limits) {
            [coders, budget, preparation] context throws(ImageError) -> Outcome in
            var maker = maker
            // What the decoder took must be remembered whatever follows: its bytes are not given twice.
            let span = plans.first?.trace?.begin(.preview, key: maker.key.decoded, lane: WorkerLane.current)
            let image = maker.make(bytes, coders: plans.first?.coders ?? coders, budget: budget, context: context)
            span?.end { event in
                event.size = image?.size
                event.bytes = bytes.received
            }
            guard let image else { return Outcome(maker: maker, images: [:]) }
            var images: [CacheKey: Image] = [:]
            for plan in plans where images[plan.keys.final] == nil {
                // A transformer that fails leaves its own requests without previews.
                images[plan.keys.final] = try? Self.transformed(image, plan, context)
            }
            for image in images.values { preparation(image.pixels) }
            return Outcome(maker: maker, images: images)
        }
    }

    private static func transformed(
        _ image: Image, _ plan: RequestPlan, _ context: CodingContext
    ) throws(ImageError) -> Image {
        var image = image
        let context = TransformContext(scale: plan.request.scale, coding: context)
        for transformer in plan.transformers {
            image = try transformer.apply(to: image, context: context)
            try context.coding.limits.check(result: image)
        }
        return image
    }
}
