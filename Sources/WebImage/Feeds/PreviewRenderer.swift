// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// The service that makes previews on worker threads.
final class PreviewRenderer: Sendable {
    /// The result of one attempt.
    struct Outcome: Sendable {
        let maker: PreviewGenerator
        /// The new previews by final key. It's empty if there's no new preview.
        let images: [CacheKey: DecodedImage]
    }

    private let workers: WorkerPool
    private let coders: ImageCoderRegistry
    private let clock: TimeSource
    private let postprocessor: PixelPostprocessor
    let budget: PreviewBudget

    init(
        _ configuration: ImageManager.Configuration, _ workers: WorkerPool, _ postprocessor: PixelPostprocessor
    ) {
        self.postprocessor = postprocessor
        self.workers = workers
        coders = CoderIsolation(configuration).isolating(configuration.coders).network
        latest = configuration.previewStopFraction
        clock = configuration.previewClock
        budget = PreviewBudget(limit: configuration.progressiveMemoryLimit)
    }

    /// The completed fraction of a download after which no preview starts.
    let latest: Double

    /// The time for preview intervals, in seconds.
    func time() -> Double { clock.uptime() }

    /// Returns `nil` if the work didn't start because it was canceled or the worker pool rejected it.
    func make(
        _ maker: PreviewGenerator, _ bytes: PreviewGenerator.Bytes, for plans: [RequestPlan],
        priority: RequestPriority
    ) async -> Outcome? {
        do throws(ImageError) {
            return try await workers.run(
                cost: maker.cost, priority: SharedPriority(priority),
                remote: (plans.first?.coders ?? coders).remoteWork(decoding: maker.format), limits: maker.key.limits,
                watched: WatchedWork(subject: maker.format?.rawValue)
            ) {
                [coders, budget, postprocessor] context throws(ImageError) -> Outcome in
                var maker = maker
                // Return the maker in any case, because its decoder must not receive the same data twice.
                let span = plans.first?.trace?.begin(
                    .preview, cacheKey: maker.key.decoded, threadName: WorkerThreadNames.current)
                let image = maker.make(bytes, coders: plans.first?.coders ?? coders, budget: budget, context: context)
                span?.end { event in
                    event.imageSize = image?.size
                    event.byteCount = bytes.received
                }
                guard let image else { return Outcome(maker: maker, images: [:]) }
                var images: [CacheKey: DecodedImage] = [:]
                for plan in plans where images[plan.keys.final] == nil {
                    // If a transformer fails, only its own requests have no previews.
                    images[plan.keys.final] = try? Self.transformed(image, plan, context)
                }
                for image in images.values { postprocessor(image) }
                return Outcome(maker: maker, images: images)
            }
        } catch {
            guard case .limitExceeded(let failure) = error, failure.kind != .overloaded else { return nil }
            // A thread that doesn't respond still uses the decoder, so no other thread may use it.
            var maker = maker
            maker.end()
            return Outcome(maker: maker, images: [:])
        }
    }

    private static func transformed(
        _ image: DecodedImage, _ plan: RequestPlan, _ context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        var image = image
        let context = context.with(scale: plan.request.scale)
        for transformer in plan.transformers {
            image = try transformer.apply(to: image, context: context)
            try context.limits.check(result: image)
        }
        return image
    }
}
