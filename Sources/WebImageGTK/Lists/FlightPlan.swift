// SPDX-License-Identifier: MIT

import Glibc

/// A plan of the images that can be loaded before a list in flight reaches them. It's pure.
///
/// The speed of the list decreases exponentially, so the list first passes images faster than any network delivers them.
/// The plan leaves out these images. It contains the longest sequence of positions up to the landing in which each image
/// arrives before its position is visible, if the images are loaded in the order in which the list reaches them.
package struct FlightPlan: Sendable, Hashable {
    /// The rate, per second, at which the speed of the list decreases.
    package var rate: Double
    /// The speed of loading.
    package var pace: PrefetchPace

    /// The assumed pace before any images were loaded, which is that of a slow connection.
    package static let initialPace = PrefetchPace(throughput: 30, latency: 0.1)
    /// The part of the throughput that the plan uses, because it varies.
    private static let usedThroughput = 0.9
    /// The number of positions that are examined, at most.
    private static let mostPositions = 10_000

    package init(rate: Double, pace: PrefetchPace = initialPace) {
        self.rate = rate
        self.pace = pace
    }

    var isValid: Bool {
        rate > 0 && rate.isFinite && pace.throughput > 0 && pace.throughput.isFinite && pace.latency >= 0
            && pace.latency.isFinite
    }

    /// Returns the number of positions before the end of the landing that can be loaded in time, at most `limit`.
    ///
    /// - Parameters:
    ///   - remaining: The number of positions that the list still passes.
    ///   - limit: The maximum result.
    ///   - grace: The number of positions by which a position may have entered the visible area before its image arrives.
    ///   - isLoaded: A closure that returns whether the image is loaded. Its argument is the distance of its
    ///     position from the end of the landing, which is 0 for the last position.
    package func reach(remaining: Int, limit: Int, grace: Int = 0, isLoaded: (Int) -> Bool) -> Int {
        guard isValid, remaining > 0 else { return 0 }
        let throughput = pace.throughput * Self.usedThroughput
        // The number of further images that can be loaded first without delaying any image of the sequence.
        var spare = Double.infinity
        let end = min(remaining, limit, Self.mostPositions)
        for distance in 0..<end {
            guard !isLoaded(distance) else { continue }
            // The list never passes the last positions.
            let passed = distance + 1 - grace
            let seconds = passed > 0 ? log(Double(remaining) / Double(passed)) / rate - pace.latency : .infinity
            spare = min(spare, throughput * seconds) - 1
            if spare < 0 { return distance }
        }
        return end
    }

    /// The number of requests to run at the same time, so that the network doesn't rest between them.
    package var concurrency: Int {
        min(max(6, Int(saturating: (pace.throughput * (pace.latency + 0.05)).rounded(.up))), 24)
    }

    /// The number of requests to hand over in advance, because frames can take long.
    package var queueLength: Int { max(2 * concurrency, Int(saturating: min(pace.throughput, 1_000) * 0.25)) }
}
