// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// The service that passes the data of running downloads to decoders on worker threads.
struct IncrementalDecodeScheduler: Sendable {
    let workers: WorkerPool
    /// The budget for the decoders of running downloads, including those for previews.
    let budget: PreviewBudget
    let time: @Sendable () -> Double

    /// `whenBegun` is called on the worker thread. Returns `false` if the decoders need more data before they can take
    /// any, or `nil` if the work didn't start.
    func append(
        _ parts: [Data], _ expected: Int?, _ decodes: [IncrementalDecode], _ priority: SharedPriority,
        whenBegun: @escaping @Sendable () -> Void
    ) async -> Bool? {
        guard let limits = decodes.first?.plan.limits else { return nil }
        let watched = WatchedWork(
            subject: decodes.first?.subject, whenLost: { error in for decode in decodes { decode.lose(error) } })
        return try? await workers.run(
            cost: 0, priority: priority, remote: decodes.first?.remoteWork, limits: limits, watched: watched
        ) { [budget] context throws(ImageError) -> Bool in
            whenBegun()
            let span = decodes.first?.plan.trace?.begin(
                .decode, cacheKey: decodes.first?.plan.keys.decoded, threadName: WorkerThreadNames.current,
                details: "part")
            var hasTaken = false
            for decode in decodes where decode.append(parts, expected: expected, budget: budget, context: context) {
                hasTaken = true
            }
            span?.end { $0.byteCount = parts.reduce(0) { $0 + $1.count } }
            return hasTaken
        }
    }
}
