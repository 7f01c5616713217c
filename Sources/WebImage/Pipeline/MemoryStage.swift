// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP
import WebImageStore

/// The first stage: processed images in memory. Synchronous; never touches the file system.
struct MemoryStage: Sendable {
    /// An image in memory, and what the request does with it.
    struct Hit {
        let image: Image
        let step: CacheStep
    }

    /// What memory has for `plan`.
    func hit(_ plan: RequestPlan) -> Hit? {
        guard plan.policy != .reload, plan.request.reads.contains(.memory) else { return nil }
        if let image = plan.cache.memory?.image(for: plan.keys.digest), plan.selects(image) {
            return Hit(image: image, step: plan.step(for: image.resource))
        }
        guard plan.request.allowsLarger, plan.transformers.isEmpty else { return nil }
        // One that has to be revalidated first would be revalidated at its own size and stored as if it were this one.
        return plan.cache.memory?.larger(for: plan.rendition) { image in
            plan.selects(image) && plan.step(for: image.resource).needsNothing
        }.map { Hit(image: $0, step: .use) }
    }

    /// An image of the same bytes at another size, to be shown while the right one is loaded.
    func placeholder(_ plan: RequestPlan) -> Image? {
        guard plan.request.reads.contains(.memory) else { return nil }
        return plan.cache.memory?.standIn(for: plan.rendition) { plan.selects($0) }
    }

    /// An intermediate or finished step of the bytes with this digest.
    func step(_ key: ImageKey, _ plan: RequestPlan) -> Image? {
        guard plan.request.reads.contains(.memory), let image = plan.cache.memory?.image(for: key.step),
            image.resource?.digest == key.bytes
        else { return nil }
        return image
    }

    /// Stores a processed image where the request wants that, unless its key was removed after the request began.
    func store(_ image: Image, _ plan: RequestPlan, _ generation: CacheGeneration) {
        guard plan.request.stores.contains(.memory), let memory = plan.cache.memory,
            plan.cache.generation(of: plan.keys.data) == generation
        else { return }
        memory.store(
            image, for: plan.keys.final, rendition: plan.rendition, isAhead: plan.request.priority == .veryLow)
        // A removal between the check and the store did not see the image.
        if plan.cache.generation(of: plan.keys.data) != generation { memory.remove(plan.keys.final) }
    }
}

extension RequestPlan {
    /// What the processed image is made as.
    fileprivate var rendition: Rendition {
        Rendition(data: keys.data, decoding: request.decodeOptions, transformers: transformers.map(\.identity))
    }
}
