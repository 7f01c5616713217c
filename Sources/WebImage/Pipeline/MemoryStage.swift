// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageStore

/// What memory holds for a request, and how it gets there.
extension Engine {
    /// What memory holds for `plan`, and what it may do.
    func remembered(_ plan: RequestPlan) -> (image: Image, standing: RequestPlan.Standing)? {
        guard plan.policy != .reload, plan.request.reads.contains(.memory) else { return nil }
        if let image = plan.cache.memory?.image(for: plan.keys.digest), plan.selects(image) {
            return (image, plan.standing(of: image.resource))
        }
        guard plan.request.allowsLarger, plan.transformers.isEmpty else { return nil }
        // One that has to be confirmed first would be confirmed in its own size and kept as if it were this one.
        return plan.cache.memory?.larger(for: plan.rendition) { image in
            plan.selects(image) && plan.standing(of: image.resource) == .answers
        }.map { ($0, .answers) }
    }

    /// A picture of the same bytes in another size, to be shown while the right one is loaded.
    func placeholder(for plan: RequestPlan) -> Image? {
        guard plan.request.reads.contains(.memory) else { return nil }
        return plan.cache.memory?.standIn(for: plan.rendition) { plan.selects($0) }
    }

    /// Keeps a final picture in memory where the request says so.
    func remember(_ image: Image, _ plan: RequestPlan) {
        guard plan.request.stores.contains(.memory) else { return }
        plan.cache.memory?.store(
            image, for: plan.keys.final, rendition: plan.rendition, isAhead: plan.request.priority == .veryLow)
    }
}

extension RequestPlan {
    /// What the final picture is made as.
    var rendition: Rendition {
        Rendition(data: keys.data, decoding: request.decodeOptions, transformers: transformers.map(\.identity))
    }
}
