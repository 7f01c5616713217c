// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Feeds decoders of running downloads on worker threads.
struct StreamStudio: Sendable {
    let workers: WorkerPool
    /// Bytes that decoders of running downloads may hold, those of previews included.
    let budget: PreviewBudget
    let time: @Sendable () -> Double

    /// Gives `parts` to `decodes`; `whenBegun` is called on the worker thread.
    ///
    /// - Returns: false where more is needed before anything can be taken; nil where it did not begin.
    func append(
        _ parts: [Data], _ expected: Int?, _ decodes: [StreamedDecode], _ priority: LivePriority,
        whenBegun: @escaping @Sendable () -> Void
    ) async -> Bool? {
        guard let limits = decodes.first?.plan.limits else { return nil }
        return try? await workers.run(cost: 0, priority: priority, limits: limits) {
            [budget] context throws(ImageError) -> Bool in
            whenBegun()
            let span = decodes.first?.plan.trace?.begin(
                .decode, key: decodes.first?.plan.keys.decoded, lane: WorkerLane.current, detail: "part")
            var hasTaken = false
            for decode in decodes where decode.append(parts, expected: expected, budget: budget, context: context) {
                hasTaken = true
            }
            span?.end { $0.bytes = parts.reduce(0) { $0 + $1.count } }
            return hasTaken
        }
    }
}
