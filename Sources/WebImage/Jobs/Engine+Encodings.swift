// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// What makes two encodes one.
struct EncodingKey: Hashable, Sendable {
    let final: CacheKey
    let encoding: ImageEncoding
    let picture: ObjectIdentifier
    /// Whether the bytes that the picture was made of may be used.
    let takesOriginal: Bool
    let isStored: Bool
}

/// A picture on its way to other bytes.
struct EncodingSource: Sendable {
    let image: Image
    /// The bytes it was made of, where they are of use and at hand.
    var original: Data?
    /// Whether the result is looked for in the tiers, and kept there.
    var isStored = false
}

/// Pictures as bytes, and those bytes as entries of their own in the tiers. An entry says of which original bytes it was
/// made, and is given out only while those are at hand and answer: what HTTP says of them holds for it too.
extension Engine {
    /// `source` as bytes, encoded once for all who ask the same.
    func encoded(
        _ source: EncodingSource, _ plan: RequestPlan, _ encoding: ImageEncoding, _ priority: LivePriority
    ) async throws(ImageError) -> Data {
        let isStored = source.isStored && storesEncodings(plan)
        let key = EncodingKey(
            final: plan.keys.final, encoding: encoding, picture: ObjectIdentifier(source.image),
            takesOriginal: source.original != nil, isStored: isStored)
        return try await encodings.value(for: key, priority: priority) { context in
            let digest = isStored && plan.policy != .reload ? source.image.resource?.digest : nil
            // A picture that the server has just confirmed.
            if let digest, let data = await self.storedEncoding(plan, encoding, of: digest) { return .success(data) }
            do throws(ImageError) {
                let data = try await self.encode(source, plan, encoding, context.priority)
                if isStored { await self.keep(data, source.image, plan, encoding) }
                return .success(data)
            } catch {
                return .failure(error)
            }
        }
    }

    private func encode(
        _ source: EncodingSource, _ plan: RequestPlan, _ encoding: ImageEncoding, _ priority: LivePriority
    ) async throws(ImageError) -> Data {
        // The original is decoded once more, to see whether it may stand for the picture.
        let cost = source.image.pixels.byteCount * (source.original == nil ? 1 : 2)
        return try await workers.run(cost: cost, priority: priority, limits: plan.limits) {
            [coders = configuration.coders, counters] context throws(ImageError) -> Data in
            counters.encodes.add(1, ordering: .relaxed)
            return try plan.trace.work(
                .encode, key: plan.keys.final, detail: encoding.format.rawValue, describe: { $1.bytes = $0.count }
            ) { () throws(ImageError) in
                try coders.encode(source.image, as: encoding, original: source.original, context: context)
            }
        }
    }

    // MARK: - In the tiers

    /// Bytes made before of what is at hand and answers now; nothing is decoded.
    func storedEncoding(_ plan: RequestPlan, _ encoding: ImageEncoding, priority: LivePriority) async -> Data? {
        guard storesEncodings(plan), plan.policy != .reload, plan.policy != .refresh,
            plan.cache.mayContain(encodedKey(plan, encoding), in: plan.request.reads),
            let digest = await answeringDigest(plan, priority)
        else { return nil }
        return await storedEncoding(plan, encoding, of: digest)
    }

    /// The digest of the original bytes that answer `plan` without anybody being asked.
    private func answeringDigest(_ plan: RequestPlan, _ priority: LivePriority) async -> ContentDigest? {
        if let known = remembered(plan), known.standing == .answers { return known.image.resource?.digest }
        guard let original = await lookUp(plan, priority: priority), plan.standing(of: original.resource) == .answers
        else { return nil }
        return original.resource.digest
    }

    private func storedEncoding(
        _ plan: RequestPlan, _ encoding: ImageEncoding, of digest: ContentDigest
    ) async -> Data? {
        let key = encodedKey(plan, encoding)
        guard plan.cache.mayContain(key, in: plan.request.reads) else { return nil }
        let span = plan.trace?.begin(.disk, key: key)
        let found = await plan.cache.entry(for: key, matching: plan.selecting, in: plan.request.reads)
        span?.end { event in
            event.bytes = found?.entry.payload.count
            event.origin = found.map { .stored(in: $0.kind) }
        }
        guard let entry = found?.entry, entry.attachment == digest.bytes else { return nil }
        return entry.payload
    }

    private func keep(_ data: Data, _ image: Image, _ plan: RequestPlan, _ encoding: ImageEncoding) async {
        let tiers = plan.request.stores.subtracting(.memory)
        guard !tiers.isEmpty, let resource = image.resource, plan.allowsStoring(resource), !image.metadata.isPartial
        else { return }
        let entry = DiskEntry(
            key: encodedKey(plan, encoding), head: resource.head, payload: data,
            attachment: resource.digest.bytes, tags: plan.request.tags, stored: plan.now)
        let span = plan.trace?.begin(.store, key: entry.key)
        await plan.cache.store(entry, request: plan.selecting, in: tiers)
        span?.end { $0.bytes = data.count }
    }

    /// What interceptors answer is theirs; what is on this machine is not copied; and a larger picture that may stand for
    /// the one asked for must not do so for ever.
    private func storesEncodings(_ plan: RequestPlan) -> Bool {
        configuration.cache.storesEncodings && !interceptsLoads && !plan.isOnThisMachine && !plan.request.allowsLarger
    }

    private func encodedKey(_ plan: RequestPlan, _ encoding: ImageEncoding) -> CacheKey {
        plan.keys.final.appending(["encoded", encoding.identity])
    }
}

extension ContentDigest {
    /// The digest as 16 bytes, big-endian.
    fileprivate var bytes: Data {
        var data = Data(capacity: 16)
        for half in [high, low] { withUnsafeBytes(of: half.bigEndian) { data.append(contentsOf: $0) } }
        return data
    }
}
