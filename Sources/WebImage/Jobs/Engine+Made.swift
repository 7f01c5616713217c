// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// Pictures that the app makes itself.
extension Engine {
    /// Has the app make the picture.
    func made(by make: PictureMaker, _ plan: RequestPlan) async throws(ImageError) -> Original {
        let span = plan.trace?.begin(.load, key: plan.keys.data)
        let image: Image
        do {
            image = try await make()
            try Task.checkCancellation()
        } catch {
            let failure = RequestError.source(error)
            span?.end { $0.error = failure }
            throw failure
        }
        span?.end { event in
            event.size = image.size
            event.origin = .local
        }
        try plan.limits.check(result: image)
        let original = Original(image, key: plan.keys.data)
        originals.add(original, for: plan.keys.data)
        return original
    }

    /// `image` at the size that was asked for.
    func fitted(_ image: Image, _ plan: RequestPlan, _ priority: LivePriority) async throws(ImageError) -> Picture {
        guard let size = plan.request.size else {
            return Picture(image: image, decodeSeconds: 0, transformSeconds: 0)
        }
        let start = ContinuousClock.now
        let scale = plan.request.scale
        let fitted = try await workers.run(cost: image.pixels.byteCount, priority: priority, limits: plan.limits) {
            context throws(ImageError) -> Image in
            try ResizeTransformer(to: size).apply(
                to: image, context: TransformContext(scale: scale, coding: context))
        }
        return Picture(
            image: fitted, decodeSeconds: start.duration(to: .now) / .seconds(1), transformSeconds: 0)
    }
}
