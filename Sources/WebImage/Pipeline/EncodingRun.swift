// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// One request for an image as bytes of an encoding. What was encoded is an entry of its own in the tiers. It says of
/// which original bytes it was made, and is given out only while those are at hand and answer: what HTTP says of them
/// holds for it too.
struct EncodingRun {
    private let plan: RequestPlan
    private let encoding: ImageEncoding
    private let pipeline: ImagePipeline
    private let priority: LivePriority
    private let generation: CacheGeneration

    init(_ plan: RequestPlan, _ encoding: ImageEncoding, _ pipeline: ImagePipeline) {
        self.plan = plan
        self.encoding = encoding
        self.pipeline = pipeline
        priority = LivePriority(plan.request.priority)
        generation = plan.cache.generation(of: plan.keys.data)
    }

    func data() async throws(ImageError) -> Data {
        if let data = await storedBeforehand() { return data }
        let (image, original) = try await source()
        // An image that the server has just confirmed may have been encoded before.
        if storesEncodings, plan.policy != .reload, let digest = image.resource?.digest,
            let data = await pipeline.cache.encoding(encoding, plan, of: digest, priority: priority)
        {
            return data
        }
        let encoded = try await pipeline.encode.encode(
            image, original: original, plan, as: encoding, priority: priority)
        if storesEncodings { await pipeline.storing.store(encoded, of: image, encoding, plan, generation) }
        if plan.request.waitsForStore { await plan.cache.flush() }
        return encoded.data
    }

    /// The encoding of what is at hand and answers now; nothing is decoded.
    private func storedBeforehand() async -> Data? {
        guard storesEncodings, plan.policy != .reload, plan.policy != .refresh,
            plan.cache.mayContain(plan.encodedKey(encoding), in: plan.request.reads),
            let digest = await answeringDigest()
        else { return nil }
        return await pipeline.cache.encoding(encoding, plan, of: digest, priority: priority)
    }

    /// The digest of the original bytes that answer without anything being asked.
    private func answeringDigest() async -> ContentDigest? {
        if let hit = pipeline.memory.hit(plan), hit.step.needsNothing { return hit.image.resource?.digest }
        let original = await pipeline.cache.original(
            plan, plan.originalCache.generation(of: plan.keys.data), priority: priority)
        guard let original, plan.step(for: original.resource).needsNothing else { return nil }
        return original.resource.digest
    }

    /// The image to be encoded, with its original bytes where they are of use.
    private func source() async throws(ImageError) -> (Image, original: Data?) {
        let (response, known) = pipeline.hit(plan)
        if let image = response?.image {
            guard mayUseOriginal else { return (image, nil) }
            let original = await pipeline.cache.original(
                plan, plan.originalCache.generation(of: plan.keys.data), priority: priority)
            if let original, original.resource.digest == image.resource?.digest { return (image, original.data) }
            // An encoding that keeps the file's metadata is not complete without the file.
            if !needsOriginal || image.resource == nil { return (image, nil) }
        }
        let asking = RequestPlan(plan) { $0.wantsData = $0.wantsData || mayUseOriginal }
        let task = pipeline.start(asking, known: known, isAdmitted: true)
        let finished = try await task.finished()
        return (finished.image, mayUseOriginal ? finished.data : nil)
    }

    /// Whether the encoding contains something that only the original bytes have.
    private var needsOriginal: Bool { encoding.metadata != .strip }

    /// Whether the original bytes can be of use to the encoder.
    private var mayUseOriginal: Bool {
        guard plan.request.maker == nil else { return false }
        if needsOriginal { return true }
        guard plan.transformers.isEmpty, plan.request.size == nil else { return false }
        return encoding.format == .automatic || encoding.isLossless
    }

    /// What interceptors answer is theirs; what is local is not copied; and a larger image that may stand for the one
    /// that was requested must not do so forever.
    private var storesEncodings: Bool {
        plan.defaults.configuration.cache.storesEncodings && !pipeline.interceptors.interceptsLoads && !plan.isLocal
            && !plan.request.allowsLarger
    }
}
