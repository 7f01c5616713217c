// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// An encoded image, shared by all requests that wait for it.
final class SharedEncodedImage: Sendable {
    let data: Data
    let claims = StoreClaims()
    /// The cache that contained the encoded image, or `nil` if it was encoded.
    let source: ImageCache?

    init(_ data: Data, source: ImageCache? = nil) {
        self.data = data
        self.source = source
    }
}

/// The stage that encodes images. Concurrent encodes of the same image are coalesced. An encoder can reuse the original
/// data.
final class EncodeStage: Sendable {
    /// The access to the cache entry of an encoded image.
    struct Storage: Sendable {
        let cached: @Sendable () async -> SharedEncodedImage?
        /// Stores the encoded image. Returns when the cache finds it.
        let store: @Sendable (SharedEncodedImage) async -> Void
    }

    /// The key of an encode. Encodes with equal keys are coalesced.
    private struct Key: Hashable {
        let processed: CacheKey
        let encoding: ImageEncoding
        let image: ObjectIdentifier
        let reusesOriginal: Bool
        let isProcessedFile: Bool
        let limits: ImageLimits
        let coders: Int
    }

    private let jobs = SharedJobs<Key, SharedEncodedImage, Never>(cancelled: .cancelled)
    private let workers: WorkerPool
    private let counters: ManagerCounters

    init(workers: WorkerPool, counters: ManagerCounters) {
        self.workers = workers
        self.counters = counters
    }

    var count: Int { jobs.count }
    var sharedCount: Int { jobs.sharedCount }

    /// `original` is the data that the image was decoded from, if the encoder can use it.
    ///
    /// The encode looks in `storage` first and stores its result there before it ends. So a request that found nothing
    /// in the cache either joins the running encode or uses its stored result. If `isProcessedFile` is `true`, and the
    /// request has a high dynamic range, the result is a ``ProcessedFile``.
    func encode(
        _ image: DecodedImage, original: Data?, _ plan: RequestPlan, as encoding: ImageEncoding,
        priority: SharedPriority, isProcessedFile: Bool = false, storage: Storage? = nil
    ) async throws(ImageError) -> SharedEncodedImage {
        let isProcessedFile = isProcessedFile && plan.request.decoding.dynamicRange == .high
        let key = Key(
            processed: plan.keys.final, encoding: encoding, image: ObjectIdentifier(image),
            reusesOriginal: original != nil, isProcessedFile: isProcessedFile, limits: plan.limits,
            coders: plan.settings.revision.coders)
        return try await jobs.value(for: key, priority: priority) { context in
            if let cached = await storage?.cached() { return .success(cached) }
            do throws(ImageError) {
                let encoded = try await self.encode(image, original, plan, encoding, isProcessedFile, context.priority)
                await storage?.store(encoded)
                return .success(encoded)
            } catch {
                return .failure(error)
            }
        }
    }

    private func encode(
        _ image: DecodedImage, _ original: Data?, _ plan: RequestPlan, _ encoding: ImageEncoding,
        _ isProcessedFile: Bool, _ priority: SharedPriority
    ) async throws(ImageError) -> SharedEncodedImage {
        // The encoder decodes the original again to check whether it can replace the image.
        let cost = image.pixels.byteCount * (original == nil ? 1 : 2)
        let format = encoding.formatOrAutomatic.rawValue
        let watched = WatchedWork(subject: "encoding \(format)", isEncoding: true)
        let coders = plan.registeredCoders
        let data = try await workers.run(
            cost: cost, priority: priority, remote: coders.remoteWork(encoding: image, as: encoding),
            limits: plan.limits, watched: watched
        ) {
            [counters] context throws(ImageError) -> Data in
            counters.encodes.add(1, ordering: .relaxed)
            return try plan.trace.work(
                .encode, key: plan.keys.final, detail: format,
                describe: { $1.byteCount = $0.count }
            ) { () throws(ImageError) in
                isProcessedFile
                    ? try ProcessedFile.data(of: image, as: encoding, coders, context: context)
                    : try coders.encode(image, as: encoding, original: original, context: context)
            }
        }
        return SharedEncodedImage(data)
    }
}
