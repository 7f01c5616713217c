// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The key of a decode or transform. Work with equal keys has the same step, data, and limits.
struct ProcessingKey: Hashable, Sendable {
    let step: CacheKey
    let bytes: ContentDigest
    let limits: ImageLimits
    /// The revision of the manager's coders. The step names the coder of a request.
    let coders: Int

    init(_ plan: RequestPlan, step: Int, of original: OriginalData) {
        self.step = plan.keys.steps[step]
        bytes = original.originalInfo.digest
        limits = plan.limits
        coders = plan.settings.revision.coders
    }
}

/// An image and the time that it took to make.
struct ProcessedImage: Sendable {
    let image: DecodedImage
    var decodeSeconds = 0.0
    var transformSeconds = 0.0
}

extension DecodedImage {
    fileprivate var markedPartial: DecodedImage {
        var metadata = metadata
        metadata.isPartial = true
        return with(metadata: metadata)
    }
}

/// The stage that decodes data at the requested size. A decode checks the header, the limits, and the budget before it
/// calls the coder. Concurrent decodes of the same image are coalesced.
final class DecodeStage: Sendable {
    private let jobs = SharedJobs<ProcessingKey, ProcessedImage, Never>(cancelled: .cancelled)
    private let workers: WorkerPool
    private let counters: ManagerCounters
    private let postprocessor: PixelPostprocessor
    private let pressure: MemoryPressureMonitor
    private let unresponsive: UnresponsiveData
    private let threadLimit: Int

    init(
        workers: WorkerPool, counters: ManagerCounters, postprocessor: PixelPostprocessor,
        pressure: MemoryPressureMonitor, unresponsive: UnresponsiveData, threadLimit: Int
    ) {
        self.threadLimit = threadLimit
        self.unresponsive = unresponsive
        self.workers = workers
        self.counters = counters
        self.postprocessor = postprocessor
        self.pressure = pressure
    }

    var count: Int { jobs.count }
    var sharedCount: Int { jobs.sharedCount }

    /// `ahead` is a decoder that has already received the beginning of the data.
    func image(
        _ original: OriginalData, _ ahead: IncrementalDecode?, _ plan: RequestPlan, priority: SharedPriority
    ) async throws(ImageError) -> ProcessedImage {
        let key = ProcessingKey(plan, step: 0, of: original)
        let made = try await jobs.value(for: key, priority: priority) { context in
            // A job that has just ended or another request already made the image.
            if let image = original.image(for: key) ?? plan.imageInMemory(after: key) {
                return .success(ProcessedImage(image: image))
            }
            do throws(ImageError) {
                let made = try await self.decode(original, ahead, plan, context.priority)
                // Intermediate results are never displayed, so prepare only the final image.
                if plan.transformers.isEmpty { self.postprocessor(made.image) }
                original.remember(made.image, for: key)
                return .success(made)
            } catch {
                return .failure(error)
            }
        }
        if !plan.transformers.isEmpty { original.recordDecode(for: key) }
        return made
    }

    private func decode(
        _ original: OriginalData, _ ahead: IncrementalDecode?, _ plan: RequestPlan, _ priority: SharedPriority
    ) async throws(ImageError) -> ProcessedImage {
        let start = ContinuousClock.now
        let options = plan.request.hintedOptions
        if let image = original.image { return try await fitted(image, plan, priority) }
        let cost = Self.cost(original.probe, options, plan.coders)
        try checkMemory(cost)
        let watched = try watched(original, ahead, plan)
        let image = try await workers.run(
            cost: cost, priority: priority, remote: plan.coders.remoteWork(decoding: original.probe?.format),
            limits: plan.limits, watched: watched,
            extraThreads: ExtraThreads(for: original.probe, limit: threadLimit)
        ) {
            [counters] context throws(ImageError) -> DecodedImage in
            let image = try plan.trace.work(.decode, key: plan.keys.decoded, describe: { $1.imageSize = $0.size }) {
                () throws(ImageError) in
                if let image = try ahead?.finish(original.data, probe: original.probe, context: context) {
                    counters.streamed.add(1, ordering: .relaxed)
                    return image.decoded(with: plan.request.decodeOptions).described(by: original.data)
                        .with(provenance: original.originalInfo)
                }
                return try plan.coders.decode(original.data, options: options, context: context)
                    .decoded(with: plan.request.decodeOptions).with(provenance: original.originalInfo)
            }
            counters.decodes.add(1, ordering: .relaxed)
            return original.mayBeTruncated ? image.markedPartial : image
        }
        return ProcessedImage(image: image, decodeSeconds: start.duration(to: .now) / .seconds(1))
    }

    /// Throws the error of an earlier decode of the same data that became unresponsive.
    private func watched(
        _ original: OriginalData, _ ahead: IncrementalDecode?, _ plan: RequestPlan
    ) throws(ImageError) -> WatchedWork {
        let subject = plan.decodingSubject(original.probe)
        let key = UnresponsiveData.Key(
            bytes: original.originalInfo.digest, subject: subject, limits: plan.limits,
            coders: plan.settings.revision.coders)
        if let error = unresponsive.error(for: key) { throw error }
        if let error = ahead?.unresponsiveError {
            unresponsive.record(error, for: key)
            throw error
        }
        return WatchedWork(subject: subject, whenLost: { [unresponsive] in unresponsive.record($0, for: key) })
    }

    private func fitted(
        _ image: DecodedImage, _ plan: RequestPlan, _ priority: SharedPriority
    ) async throws(ImageError) -> ProcessedImage {
        guard let size = plan.request.size else { return ProcessedImage(image: image) }
        let start = ContinuousClock.now
        let scale = plan.request.scale
        let filter = plan.request.decoding.resampling
        let fitted = try await workers.run(cost: image.pixels.byteCount, priority: priority, limits: plan.limits) {
            context throws(ImageError) -> DecodedImage in
            // The resizing replaces a decode, so it isn't one of the transformers of the image.
            let fitted = try ResizeTransformer(to: size, filter: filter).apply(
                to: image, context: context.with(scale: scale))
            var history = image.history
            history.originalSize = image.originalSize
            history.isReduced = fitted.size.width < image.size.width || fitted.size.height < image.size.height
            return fitted.with(history: history)
        }
        return ProcessedImage(image: fitted, decodeSeconds: start.duration(to: .now) / .seconds(1))
    }

    /// Rejects large images under critical memory pressure, because they could cause the kernel to kill this process.
    private func checkMemory(_ cost: Int) throws(ImageError) {
        guard let limit = pressure.level.decodedBytesLimit, cost > limit else { return }
        throw .limitExceeded(
            ImageError.LimitFailure(.decodedSize, limit: limit, actual: cost, detail: "critical memory pressure"))
    }

    /// Returns the estimated size of the pixels that a decode needs, for the budget, in bytes. Decoders that don't
    /// reduce the image while they decode it need the whole image.
    static func cost(_ probe: ImageInfo?, _ options: ImageDecodingOptions, _ coders: ImageCoderRegistry) -> Int {
        guard let probe, let area = probe.storedSize.area else { return 0 }
        let standard = coders.requirements(for: probe, options: options)?.byteCount
        let (bytes, overflow) = area.multipliedReportingOverflow(by: 4)
        let cost = standard ?? (overflow ? Int.max / 2 : min(bytes, Int.max / 2))
        // Samples of PQ and HLG have 16 bits, and a gain map is at most as large as the image in practice. The rendering of
        // a gain map in PQ exists in addition to both.
        let factor =
            switch options.dynamicRange {
            case .standard: 1
            case .high: 2
            case .pq: 4
            }
        return min(cost, Int.max / 8) * factor
    }
}

extension RequestPlan {
    func decodingSubject(_ probe: ImageInfo?) -> String {
        request.coder?.identifier ?? probe?.format.rawValue ?? "unknown"
    }
}
