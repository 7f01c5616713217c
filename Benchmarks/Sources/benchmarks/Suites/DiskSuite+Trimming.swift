// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage

/// Measurements of how eviction affects callers.
extension DiskSuite {
    enum Caller: String {
        case gets, puts
    }

    /// Compares the latency of single calls while thousands of older entries are being deleted with that of the same
    /// calls without deletions.
    static func besideTrim(_ settings: Settings, _ caller: Caller) -> Case {
        let quiet = "without a trim"
        let busy = Contender("during a trim") { _ in try await waits(settings, caller, trims: true) }
        let calm = Contender(quiet) { _ in try await waits(settings, caller, trims: false) }
        return Case(
            name: "\(caller.rawValue) during a trim of 6000 entries", contenders: [busy, calm],
            goals: [.ratio(.p99, to: quiet, atMost: 2)] + (caller == .gets ? [.atMost(1e-3, .longest)] : []))
    }

    private static func waits(_ settings: Settings, _ caller: Caller, trims: Bool) async throws -> Sample {
        let old = 6_000
        let hot = 500
        let bodies = Bodies(fixed: 30_000)
        let cache = try DiskCache(configuration: try configuration(settings, "beside"))
        var bytes = 0
        for index in 0..<(old + hot) {
            cache.store(bodies.entry(index))
            if index % 256 == 255 { await cache.flush() }
            if index == old { bytes = await cache.info().size }
        }
        let left = await cache.info().size - bytes
        let isDone = Atomic(!trims)
        let trimming = Task {
            if trims { await cache.trim(toSize: left) }
            isDone.store(true, ordering: .releasing)
        }
        var latencies = Latencies()
        var index = 0
        while index < 3_000 || !isDone.load(ordering: .acquiring) {
            let start = Clocks.wall()
            switch caller {
            case .gets: consume(await cache.entry(for: bodies.key(old + index % hot)))
            case .puts: cache.store(bodies.entry(old + index % hot))
            }
            // Calls after the trim are as fast as without it, so exclude them.
            if !trims || !isDone.load(ordering: .acquiring) { latencies.add(since: start) }
            index += 1
        }
        await trimming.value
        await cache.close()
        return latencies.sample
    }
}
