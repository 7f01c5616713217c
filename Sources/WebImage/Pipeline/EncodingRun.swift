// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// A request for an encoded image.
///
/// The result is a separate entry in the tiers. The entry contains the digest of its original data, and it's used only
/// while this data is available and serves the request. So the HTTP freshness of the data also applies to the encoding.
struct EncodingRun {
    private let plan: ResolvedRequest
    private let encoding: ImageEncoding
    private let pipeline: ImagePipeline
    private let priority: SharedPriority
    private let generation: CacheGeneration

    init(_ plan: ResolvedRequest, _ encoding: ImageEncoding, _ pipeline: ImagePipeline) {
        self.plan = plan
        self.encoding = encoding
        self.pipeline = pipeline
        priority = SharedPriority(plan.request.priority)
        generation = plan.cache.generation(of: plan.keys.data)
    }

    func data() async throws(ImageError) -> Data {
        if let data = await storedBeforehand() { return data }
        let (image, original) = try await source()
        let encoded = try await pipeline.encode.encode(
            image, original: original, plan, as: encoding, priority: priority,
            storage: storesEncodings ? storage(of: image) : nil)
        // A request that joined the encode may store in another cache or in other tiers.
        if storesEncodings { await store(encoded, of: image) }
        if plan.request.caching.waitsUntilStored { await plan.cache.flush() }
        return encoded.data
    }

    private func storage(of image: DecodedImage) -> EncodeStage.Storage {
        EncodeStage.Storage(
            cached: {
                // An image that the server has just revalidated may already have been encoded.
                guard plan.policy != .reload, let digest = image.resource?.digest else { return nil }
                let data = await pipeline.cache.encoding(encoding, plan, of: digest, priority: priority)
                return data.map { SharedEncodedImage($0, source: plan.cache) }
            },
            store: { await store($0, of: image) })
    }

    private func store(_ encoded: SharedEncodedImage, of image: DecodedImage) async {
        guard encoded.source !== plan.cache else { return }
        await pipeline.storing.store(encoded, of: image, encoding, plan, generation)
    }

    /// Returns the cached encoding of data that is available and fresh, without decoding anything.
    private func storedBeforehand() async -> Data? {
        guard storesEncodings, plan.policy != .reload, plan.policy != .refresh,
            plan.cache.mayContain(plan.encodedKey(encoding), in: plan.request.caching.readFrom),
            let (resource, decision) = await usableData(),
            let data = await pipeline.cache.encoding(encoding, plan, of: resource.digest, priority: priority),
            plan.claim(decision, of: resource).needsNothing
        else { return nil }
        return data
    }

    /// Returns the record of the original data if it serves the request without contacting the source.
    private func usableData() async -> (OriginalInfo, CacheDecision)? {
        if let hit = pipeline.memory.hit(plan), hit.step.needsNothing {
            return hit.image.resource.map { ($0, hit.decision) }
        }
        let original = await pipeline.cache.original(
            plan, plan.originalCache.generation(of: plan.keys.data), priority: priority)
        guard let original else { return nil }
        let decision = plan.decision(for: original.resource)
        return decision.step.needsNothing ? (original.resource, decision) : nil
    }

    /// Returns the image to encode, together with its original data if the encoder can use it.
    private func source() async throws(ImageError) -> (DecodedImage, original: Data?) {
        let (response, known) = pipeline.hit(plan)
        if let image = response?.image {
            guard mayUseOriginal else { return (image, nil) }
            let original = await pipeline.cache.original(
                plan, plan.originalCache.generation(of: plan.keys.data), priority: priority)
            if let original, original.resource.digest == image.resource?.digest { return (image, original.data) }
            // An encoding that preserves the metadata of the file needs the original data.
            if !needsOriginal || image.resource == nil { return (image, nil) }
        }
        let asking = ResolvedRequest(plan) { $0.includesOriginalData = $0.includesOriginalData || mayUseOriginal }
        let task = pipeline.start(asking, known: known, isAdmitted: true)
        let finished = try await task.finished()
        return (finished.image, mayUseOriginal ? finished.originalData : nil)
    }

    /// A Boolean value that indicates whether the encoding contains information that only the original data has.
    private var needsOriginal: Bool { encoding.metadata != .strip }

    /// A Boolean value that indicates whether the encoder can use the original data.
    private var mayUseOriginal: Bool {
        guard plan.request.maker == nil else { return false }
        if needsOriginal { return true }
        guard plan.transformers.isEmpty, plan.request.size == nil else { return false }
        return encoding.format == nil || encoding.isLossless
    }

    /// A Boolean value that indicates whether encodings are stored.
    ///
    /// They aren't stored if an interceptor can serve the request or the source is local. They also aren't stored if a
    /// larger image can serve the request, because the stored result would then be permanent.
    private var storesEncodings: Bool {
        plan.defaults.configuration.storesEncodedImages && !pipeline.interceptors.interceptsLoads && !plan.isLocal
            && !plan.request.caching.allowsLargerImages
    }
}
