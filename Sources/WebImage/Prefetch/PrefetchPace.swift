// SPDX-License-Identifier: MIT

import Glibc

/// The speed at which a prefetcher loads images that aren't cached.
package struct PrefetchPace: Sendable, Hashable {
    /// The number of images per second.
    package var throughput: Double
    /// The shortest time, in seconds, that one of the last loads took.
    package var latency: Double

    package init(throughput: Double, latency: Double) {
        self.throughput = throughput
        self.latency = latency
    }
}

/// A state machine that estimates the pace of a prefetcher. It's pure: it receives the time of each start and each end.
///
/// Only the time during which requests run counts. The recent half second has about two thirds of the weight, because the
/// speed of a network changes.
struct PrefetchPaceEstimator {
    /// The weight of the past decreases by a factor of e in this number of seconds.
    private static let span = 0.5
    /// The number of loads whose shortest time is the latency.
    private static let latencyCount = 16
    /// The number of loads before which there's no estimate.
    private static let fewestLoads = 4.0

    private var running = 0
    private var last = 0.0
    private var (busy, loads) = (0.0, 0.0)
    private var total = 0.0
    private var latencies: [Double] = []

    /// The estimate, or `nil` before there were enough loads.
    var pace: PrefetchPace? {
        guard total >= Self.fewestLoads, busy > 0, let latency = latencies.min() else { return nil }
        return PrefetchPace(throughput: loads / busy, latency: latency)
    }

    /// Records that a request started at `time`, in seconds. While `isYielding` is `true`, the prefetcher doesn't use the
    /// whole speed of the network, so the time doesn't count.
    mutating func start(at time: Double, isYielding: Bool) {
        advance(to: time, isYielding)
        running += 1
    }

    /// Records the end of a request. `latency` is the time that it took, or `nil` if it loaded nothing.
    mutating func finish(at time: Double, isYielding: Bool, latency: Double?) {
        advance(to: time, isYielding)
        running = max(0, running - 1)
        guard let latency, latency >= 0, !isYielding else { return }
        loads += 1
        total += 1
        latencies.append(latency)
        if latencies.count > Self.latencyCount { latencies.removeFirst() }
    }

    private mutating func advance(to time: Double, _ isYielding: Bool) {
        let elapsed = time - last
        last = max(last, time)
        guard running > 0, !isYielding, elapsed > 0 else { return }
        let weight = exp(-elapsed / Self.span)
        busy = busy * weight + elapsed
        loads *= weight
    }
}
