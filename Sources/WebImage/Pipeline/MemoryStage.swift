// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP
import WebImageStore

/// The first stage, which looks up processed images in memory. It's synchronous and never accesses the file system.
struct MemoryStage: Sendable {
    /// An image in memory and the request's next step.
    struct Hit {
        let image: DecodedImage
        let step: CacheAction
    }

    /// Returns the image in memory for `plan`.
    func hit(_ plan: ResolvedRequest) -> Hit? {
        guard plan.policy != .reload, plan.request.caching.readFrom.contains(.memory) else { return nil }
        if let image = plan.cache.memory?.image(for: plan.keys.digest), plan.selects(image) {
            return Hit(image: image, step: plan.step(for: image.resource))
        }
        guard plan.request.caching.allowsLargerImages, plan.transformers.isEmpty else { return nil }
        // A larger image that must be revalidated would be revalidated at its own size and stored under this key.
        return plan.cache.memory?.larger(for: plan.rendition) { image in
            plan.selects(image) && plan.step(for: image.resource).needsNothing
        }.map { Hit(image: $0, step: .use) }
    }

    /// Returns an image of the same data at another size, to display while the requested image loads.
    func placeholder(_ plan: ResolvedRequest) -> DecodedImage? {
        guard plan.request.caching.readFrom.contains(.memory) else { return nil }
        return plan.cache.memory?.placeholder(for: plan.rendition) { plan.selects($0) }
    }

    /// Returns the image after an intermediate or final step for data with this digest.
    func step(_ key: ProcessingKey, _ plan: ResolvedRequest) -> DecodedImage? {
        guard plan.request.caching.readFrom.contains(.memory), let image = plan.cache.memory?.image(for: key.step),
            image.resource?.digest == key.bytes
        else { return nil }
        return image
    }

    /// Stores a processed image if the request allows it and its key wasn't removed after the request began.
    func store(_ image: DecodedImage, _ plan: ResolvedRequest, _ generation: CacheGeneration) {
        guard plan.request.caching.writeTo.contains(.memory), let memory = plan.cache.memory,
            plan.cache.generation(of: plan.keys.data) == generation
        else { return }
        memory.store(
            image, for: plan.keys.final, rendition: plan.rendition, isAhead: plan.request.priority == .veryLow)
        // A removal between the check and the store missed the image.
        if plan.cache.generation(of: plan.keys.data) != generation { memory.remove(plan.keys.final) }
    }
}

extension ResolvedRequest {
    /// The rendition of the processed image.
    fileprivate var rendition: ImageVariant {
        ImageVariant(data: keys.data, decoding: request.decodeOptions, transformers: transformers.map(\.identifier))
    }
}
