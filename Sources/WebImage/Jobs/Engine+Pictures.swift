// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore
import WebImageStore

/// What makes two decodes or transforms one: the same step of the same bytes under the same limits.
struct PictureKey: Hashable, Sendable {
    let step: CacheKey
    let bytes: ContentDigest
    let limits: Limits
}

/// A picture and what it cost.
struct Picture: Sendable {
    let image: Image
    var decodeSeconds: Double
    var transformSeconds: Double
}

extension Engine {
    /// The final picture of `original`: decoded and transformed, every step once for all who want it.
    /// `ahead` is a decoder that has taken the beginning of the bytes already.
    func picture(
        _ original: Original, _ ahead: StreamedDecode?, _ plan: RequestPlan, priority: LivePriority
    ) async throws(ImageError) -> Picture {
        try await step(plan.transformers.count, original, ahead, plan, priority)
    }

    private func step(
        _ index: Int, _ original: Original, _ ahead: StreamedDecode?, _ plan: RequestPlan, _ priority: LivePriority
    ) async throws(ImageError) -> Picture {
        let key = PictureKey(step: plan.keys.steps[index], bytes: original.resource.digest, limits: plan.limits)
        return try await pictures.value(for: key, priority: priority) { context in
            // Made before, by a job that has just ended or for another request.
            if let image = original.picture(key) ?? self.rememberedStep(key, plan) {
                return .success(Picture(image: image, decodeSeconds: 0, transformSeconds: 0))
            }
            do throws(ImageError) {
                let picture =
                    if index == 0 { try await self.decode(original, ahead, plan, context.priority) } else {
                        try await self.transform(
                            try await self.step(index - 1, original, ahead, plan, context.priority),
                            plan.transformers[index - 1], plan, context.priority)
                    }
                // What is only a step on the way is never shown.
                if index == plan.transformers.count { self.preparation(picture.image.pixels) }
                original.remember(picture.image, key)
                return .success(picture)
            } catch {
                return .failure(error)
            }
        }
    }

    /// A finished step in memory serves the next one.
    private func rememberedStep(_ key: PictureKey, _ plan: RequestPlan) -> Image? {
        guard plan.request.reads.contains(.memory), let image = plan.cache.memory?.image(for: key.step),
            image.resource?.digest == key.bytes
        else { return nil }
        return image
    }

    private func decode(
        _ original: Original, _ ahead: StreamedDecode?, _ plan: RequestPlan, _ priority: LivePriority
    ) async throws(ImageError) -> Picture {
        let start = ContinuousClock.now
        let options = plan.request.hintedOptions
        if let image = original.image { return try await fitted(image, plan, priority) }
        let cost = decodeCost(original.probe, options)
        try checkMemory(cost)
        let image = try await workers.run(cost: cost, priority: priority, limits: plan.limits) {
            [counters] context throws(ImageError) -> Image in
            let image = try plan.trace.work(.decode, key: plan.keys.decoded, describe: Self.describe) {
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
        return Picture(image: image, decodeSeconds: start.duration(to: .now) / .seconds(1), transformSeconds: 0)
    }

    private static func describe(_ image: Image, _ event: inout StageEvent) { event.size = image.size }

    /// While processes are about to be killed, large pictures would be what kills this one.
    private func checkMemory(_ cost: Int) throws(ImageError) {
        guard let limit = configuration.memoryPressure.level.decodedBytesLimit, cost > limit else { return }
        throw .limit(LimitError(.decodedBytes, limit: limit, actual: cost, detail: "memory is short"))
    }

    private func transform(
        _ base: Picture, _ transformer: any ImageTransformer, _ plan: RequestPlan, _ priority: LivePriority
    ) async throws(ImageError) -> Picture {
        let start = ContinuousClock.now
        let scale = plan.request.scale
        let image = try await workers.run(cost: base.image.pixels.byteCount, priority: priority, limits: plan.limits) {
            [counters] context throws(ImageError) -> Image in
            counters.transforms.add(1, ordering: .relaxed)
            return try plan.trace.work(
                .transform, key: plan.keys.final, detail: transformer.identity, describe: Self.describe
            ) { () throws(ImageError) in
                let result = try transformer.apply(
                    to: base.image, context: TransformContext(scale: scale, coding: context))
                try context.limits.check(result: result)
                return result
            }
        }
        var picture = Picture(
            image: image, decodeSeconds: base.decodeSeconds, transformSeconds: base.transformSeconds)
        picture.transformSeconds += start.duration(to: .now) / .seconds(1)
        return picture
    }

    /// Bytes of pixels a decode is going to hold, for the budget. Formats that reduce while decoding need at most
    /// four times the result (twice its sides); others hold the whole picture.
    private func decodeCost(_ probe: ImageProbe?, _ options: DecodeOptions) -> Int {
        guard let probe, let area = probe.rawSize.area else { return 0 }
        let full = area.multipliedReportingOverflow(by: 4)
        let whole = full.overflow ? Int.max / 2 : full.partialValue
        guard let plan = try? options.size?.plan(for: probe.size, scale: options.scale),
            probe.format == .jpeg || probe.format == .webp, let output = plan.output.area
        else { return whole }
        return min(whole, output.multipliedReportingOverflow(by: 20).partialValue)
    }

    /// Stores a final picture in the tiers the request names. The work that goes on behind, where there is some.
    @discardableResult
    func keep(_ image: Image, _ resource: ResourceRecord, _ plan: RequestPlan) -> Task<Void, Never>? {
        guard plan.allowsStoring(resource) else { return nil }
        remember(image, plan)
        let tiers = plan.request.stores.subtracting(.memory)
        guard case .encoded(let encoding) = plan.request.storeFinal, !tiers.isEmpty,
            ProcessedForm.mayStore(image, plan.request)
        else { return nil }
        backgroundWork.add(1, ordering: .relaxed)
        return Task.detached(priority: .background) {
            if let data = try? await self.encoded(
                EncodingSource(image: image), plan, encoding, LivePriority(.low))
            {
                let entry = DiskEntry(
                    key: self.finalKey(plan), head: resource.head, probe: nil, payload: data,
                    tags: plan.request.tags, stored: plan.now)
                await plan.cache.store(entry, request: plan.selecting, in: tiers)
            }
            self.backgroundWork.subtract(1, ordering: .relaxed)
        }
    }

    /// The final picture from an entry of its own, where requests store such and it is still fresh.
    func storedFinal(
        _ plan: RequestPlan, priority: LivePriority
    ) async -> (image: Image, origin: ImageResponse.Origin)? {
        guard case .encoded = plan.request.storeFinal, plan.policy != .reload, plan.policy != .refresh,
            !plan.request.wantsData, plan.cache.mayContain(finalKey(plan), in: plan.request.reads),
            let found = await plan.cache.entry(
                for: finalKey(plan), matching: plan.selecting, in: plan.request.reads)
        else { return nil }
        let entry = found.entry
        let resource = ResourceRecord(
            digest: ContentDigest(of: entry.payload), byteCount: entry.payload.count, head: entry.head)
        guard plan.standing(of: resource) == .answers else { return nil }
        let image = try? await workers.run(cost: 0, priority: priority, limits: plan.limits) {
            [configuration, preparation] context throws(ImageError) -> Image in
            let image = try ProcessedForm.image(
                entry.payload, plan.request, configuration.coders, context: context
            ).with(provenance: resource)
            preparation(image.pixels)
            return image
        }
        guard let image else {
            await plan.cache.remove(finalKey(plan), matching: plan.selecting)
            return nil
        }
        remember(image, plan)
        return (image, .stored(in: found.kind))
    }

    func finalKey(_ plan: RequestPlan) -> CacheKey { plan.keys.final.appending(["final"]) }
}
