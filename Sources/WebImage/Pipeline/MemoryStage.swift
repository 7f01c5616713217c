// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

/// The first stage, which looks up processed images in memory. It's synchronous and never accesses the file system.
struct MemoryStage: Sendable {
    /// An image in memory and the request's next step.
    struct Hit {
        let image: DecodedImage
        let decision: CacheDecision
        var isLarger = false

        var step: CacheAction { decision.step }

        /// The image, for a request that it doesn't serve alone. A larger image that must be revalidated would be
        /// revalidated at its own size and stored under the key of the request.
        var known: DecodedImage? { isLarger && decision.isFirstUse ? nil : image }
    }

    func hit(_ plan: RequestPlan) -> Hit? {
        guard plan.policy.usesCache, plan.request.caching.readFrom.contains(.memory) else { return nil }
        if let image = plan.imageInMemory {
            // Most hits end here, after one access to the record of the data.
            if let originalInfo = image.originalInfo, plan.http.isKnownFresh(originalInfo) {
                return Hit(image: image, decision: CacheDecision(step: .use))
            }
            if plan.http.selects(image) {
                return Hit(image: image, decision: plan.http.decision(for: image.originalInfo))
            }
        }
        if let image = firstFrame(plan) {
            return Hit(image: image, decision: plan.http.decision(for: image.originalInfo))
        }
        guard plan.request.caching.allowsLargerImages, plan.transformers.isEmpty else { return nil }
        let isUsable: (DecodedImage) -> Bool = { image in
            plan.http.selects(image) && plan.http.step(for: image.originalInfo).needsNothing
        }
        guard let larger = plan.cache.largerInMemory(for: plan.variant, where: isUsable) else { return nil }
        let decision = plan.http.decision(for: larger.originalInfo)
        return decision.step.needsNothing ? Hit(image: larger, decision: decision, isLarger: true) : nil
    }

    /// Returns the first frame of an animation in memory if `plan` requests the first frame of the same image.
    ///
    /// The result shares the pixels of the animation. It isn't stored, so the animation remains in memory. A transformer
    /// that excludes animations would change the first frame alone, so all transformers must have changed the animation.
    func firstFrame(_ plan: RequestPlan) -> DecodedImage? {
        guard plan.request.frames == .first, let memory = plan.cache.memory else { return nil }
        let transformers = plan.transformers.map(\.identifier)
        let found = memory.imageWithFirstFrame(of: plan.variant) { image in
            plan.http.selects(image) && !image.metadata.isPartial && image.transformerIdentifiers == transformers
        }
        guard let found else { return nil }
        let frame = found.isAnimated ? found.replacing(pixels: found.pixels, animation: nil) : found
        var history = frame.history
        history.decodingOptions = plan.request.decodeOptions
        return frame.with(history: history)
    }

    /// Returns an image of the same data at another size, to display while the requested image loads.
    func placeholder(_ plan: RequestPlan) -> DecodedImage? {
        guard plan.request.caching.readFrom.contains(.memory) else { return nil }
        return plan.cache.placeholderInMemory(for: plan.variant) { plan.http.selects($0) }
    }

    /// Stores a processed image if the request allows it and its key wasn't removed after the request began.
    func store(_ image: DecodedImage, _ plan: RequestPlan, _ generation: CacheGeneration) {
        let cache = plan.cache
        guard plan.request.caching.writeTo.contains(.memory), cache.hasMemory else { return }
        cache.storeInMemory(
            image, for: plan.keys.final, madeOf: plan.keys.data, generation, variant: plan.variant,
            timeToLive: plan.request.caching.timeToLive, isPrefetch: plan.isPrefetch)
    }
}

extension RequestPlan {
    /// The final image in memory, regardless of its age and its header fields.
    var imageInMemory: DecodedImage? { cache.imageInMemory(for: keys.digest, keys.final) }

    func imageInMemory(after key: ProcessingKey) -> DecodedImage? {
        guard request.caching.readFrom.contains(.memory) else { return nil }
        guard let image = cache.imageInMemory(for: key.step.digest, key.step), image.originalInfo?.digest == key.bytes
        else { return nil }
        return image
    }

    fileprivate var variant: ImageVariant {
        ImageVariant(data: keys.data, decoding: request.decodeOptions, transformers: transformers.map(\.identifier))
    }
}
