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
    private let plan: RequestPlan
    /// The plan of the same request with pixels in sRGB, or `nil` if ``plan`` has them. Its image in memory serves the
    /// request if its file is sRGB.
    private let narrow: RequestPlan?
    private let encoding: ImageEncoding
    private let task: ImageTask
    private let pipeline: ImagePipeline
    private let priority: SharedPriority
    private let generation: CacheGeneration

    init(
        _ plan: RequestPlan, narrow: RequestPlan? = nil, _ encoding: ImageEncoding, _ task: ImageTask,
        _ pipeline: ImagePipeline
    ) {
        self.plan = plan
        self.narrow = narrow
        self.encoding = encoding
        self.task = task
        self.pipeline = pipeline
        priority = SharedPriority(plan.request.priority)
        generation = plan.cache.generation(of: plan.keys.data)
    }

    /// An encoded image, the record of its original data, and the source of the encoding or of the encoded image.
    typealias Output = (data: Data, originalInfo: OriginalInfo?, source: ImageResponse.Source)

    func output() async throws(ImageError) -> Output {
        pipeline.fetch.reserve(plan, for: task, .image(plan.limits))
        guard storesEncodings else { return try await encoded() }
        // Data that arrives during the lookups is retained until the part that loads the image takes it.
        pipeline.inFlight.enter()
        defer { pipeline.inFlight.leave() }
        let stored = await storedBeforehand()
        // The request joins the running lookups.
        defer { withExtendedLifetime(stored) {} }
        if let found = stored.found { return found }
        guard let late = stored.late, let originalInfo = stored.originalInfo else { return try await encoded() }
        return try await late.race { () async throws(ImageError) -> Output in
            try await encoded()
        } accept: {
            ($0.data, originalInfo, $0.source)
        }.result.get()
    }

    /// Returns the cached encoding of data that is available and fresh, without decoding anything, or `nil` if there's
    /// none or if its tier is slow.
    func stored() async -> Output? { storesEncodings ? await storedBeforehand().found : nil }

    /// Whether the image is in memory and needs no further data. This property uses up no prefetched image.
    var isImageInMemory: Bool {
        guard !needsOriginal, !pipeline.interceptors.interceptsMemoryHits, !plan.needsVerification,
            let hit = pipeline.memory.hit(plan)
        else { return false }
        return hit.step.servesRequest && !isOutdated(hit.image)
    }

    private func encoded() async throws(ImageError) -> Output {
        let (image, original, source) = try await source()
        let encoded = try await pipeline.encode.encode(
            image, original: original, plan, as: encoding, priority: priority,
            storage: storesEncodings ? storage(of: image) : nil)
        // A request that joined the encode may store in another cache or in other tiers.
        if storesEncodings { await store(encoded, of: image) }
        if plan.request.caching.waitsUntilStored { await plan.cache.flush() }
        return (encoded.data, image.originalInfo, source)
    }

    private func storage(of image: DecodedImage) -> EncodeStage.Storage {
        EncodeStage.Storage(
            cached: {
                // An image that the server has just revalidated may already have been encoded.
                guard plan.policy.usesCache, let digest = image.originalInfo?.digest else { return nil }
                // A slow tier isn't worth a longer wait than the encode itself.
                let found = await pipeline.cache.hedgedEncoding(encoding, plan, of: digest, priority: priority).found
                return found.map { SharedEncodedImage($0.data, source: plan.cache) }
            },
            store: { await store($0, of: image) })
    }

    private func store(_ encoded: SharedEncodedImage, of image: DecodedImage) async {
        guard encoded.source !== plan.cache else { return }
        await pipeline.storing.store(encoded, of: image, encoding, plan, generation)
    }

    /// The result of the lookups before the image is loaded.
    private struct Stored {
        var found: Output?
        /// The record of the original data, if it serves the request without contacting the source.
        var originalInfo: OriginalInfo?
        /// The running lookup of the encoding, if a tier is slow.
        var late: HedgedLookup<CacheStage.StoredEncoding>?
        var lateOriginal: HedgedLookup<OriginalData>?
    }

    /// Returns the cached encoding of data that is available and fresh, without decoding anything.
    private func storedBeforehand() async -> Stored {
        var stored = Stored()
        guard plan.policy.usesUnconfirmed,
            plan.cache.mayContain(plan.encodedKey(encoding), in: plan.request.caching.readFrom)
        else { return stored }
        let (usable, lateOriginal) = await usableData()
        stored.lateOriginal = lateOriginal
        guard let (originalInfo, decision) = usable else { return stored }
        let (found, late) = await pipeline.cache.hedgedEncoding(
            encoding, plan, of: originalInfo.digest, priority: priority)
        guard found != nil || late != nil, plan.claim(decision, of: originalInfo).needsNothing else { return stored }
        (stored.originalInfo, stored.late) = (originalInfo, late)
        stored.found = found.map { ($0.data, originalInfo, $0.source) }
        return stored
    }

    /// Returns the running lookup if a tier is slow.
    private func usableData() async -> ((OriginalInfo, CacheDecision)?, HedgedLookup<OriginalData>?) {
        if let hit = pipeline.memory.hit(plan), hit.step.needsNothing, !isOutdated(hit.image) {
            return (hit.image.originalInfo.map { ($0, hit.decision) }, nil)
        }
        let originalGeneration = plan.originalCache.generation(of: plan.keys.data)
        // The encoding needs only the record, so a large original isn't read again.
        var originalInfo = await pipeline.cache.originalInfo(plan, originalGeneration, priority: priority)
        if originalInfo == nil {
            let (original, late) = await pipeline.cache.hedgedOriginal(plan, originalGeneration, priority: priority)
            guard let original else { return (nil, late) }
            originalInfo = original.originalInfo
        }
        guard let originalInfo else { return (nil, nil) }
        let decision = plan.http.decision(for: originalInfo)
        return (decision.step.needsNothing ? (originalInfo, decision) : nil, nil)
    }

    private func source() async throws(ImageError) -> (DecodedImage, original: Data?, ImageResponse.Source) {
        var (response, known) = pipeline.partialHit(plan)
        if let image = response?.image, isOutdated(image) { response = nil }
        if response == nil, let narrow, let hit = pipeline.partialHit(narrow).0, serves(hit.image) { response = hit }
        if let image = response?.image {
            guard mayUseOriginal else { return (image, nil, .memoryCache) }
            let original = await pipeline.cache.original(
                plan, plan.originalCache.generation(of: plan.keys.data), priority: priority)
            if let original, original.originalInfo.digest == image.originalInfo?.digest {
                return (image, original.data, .memoryCache)
            }
            // An encoding that preserves the metadata of the file needs the original data.
            if !needsOriginal || image.originalInfo == nil { return (image, nil, .memoryCache) }
        }
        let asking = RequestPlan(plan) { request in
            request.includesOriginalData = request.includesOriginalData || mayUseOriginal
            // The deadline applies to the whole request.
            request.deadline = nil
        }
        let task = pipeline.start(asking, known: known, isPart: true)
        // The other task has its own reservation.
        self.task.endReservation()
        let finished = try await task.finished()
        return (finished.image, mayUseOriginal ? finished.originalData : nil, finished.source)
    }

    /// The file of a processed image on disk has lost the information about the original.
    private func serves(_ narrow: DecodedImage) -> Bool {
        guard narrow.isFromSRGB else { return false }
        return plan.request.decoding.dynamicRange == .standard
            || !narrow.metadata.hasGainMap && plan.request.caching.processedEncoding == nil
    }

    /// Returns whether memory contains an image in sRGB of other data. Another request loaded that data later, because a
    /// request for the encoding uses the image in sRGB or loads both.
    private func isOutdated(_ image: DecodedImage) -> Bool {
        guard let narrow, let other = pipeline.memory.hit(narrow)?.image.originalInfo else { return false }
        return other.digest != image.originalInfo?.digest
    }

    /// Decoded images retain their author and their copyright, but their separate entries on disk don't.
    private var needsOriginal: Bool {
        switch encoding.metadata {
        case .strip: false
        case .keepCopyright: plan.request.caching.processedEncoding != nil
        case .keep, .keepExceptLocation: true
        }
    }

    private var mayUseOriginal: Bool {
        guard plan.request.maker == nil else { return false }
        if needsOriginal { return true }
        guard plan.transformers.isEmpty, plan.request.size == nil else { return false }
        return encoding.format == nil || encoding.isLossless
    }

    /// Encodings aren't stored if an interceptor can serve the request or the source is local. They also aren't stored
    /// if a larger image can serve the request, because the stored result would then be permanent.
    private var storesEncodings: Bool {
        plan.defaults.configuration.storesEncodedImages && !pipeline.interceptors.interceptsLoads && !plan.isLocal
            && !plan.request.caching.allowsLargerImages
    }
}

extension DecodedImage {
    fileprivate var isFromSRGB: Bool {
        guard metadata.color == .sRGB, metadata.iccProfile == nil else { return false }
        if let points = metadata.sourceCodePoints, points != .sRGB,
            points != ColorCodePoints(primaries: 2, transfer: 2)
        {
            return false
        }
        return switch format {
        // libjxl converts colors itself, so the metadata describe the result.
        case .jxl, nil: false
        default: true
        }
    }
}
