// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import WebImage

@Suite("Pace of prefetching")
struct PrefetchPaceTests {
    /// Runs `count` loads, of which `width` run at a time.
    private func run(
        _ estimator: inout PrefetchPaceEstimator, from start: Double, count: Int, width: Int, seconds: Double,
        isYielding: Bool = false
    ) -> Double {
        var time = start
        for _ in 0..<(count / width) {
            for _ in 0..<width { estimator.start(at: time, isYielding: isYielding) }
            time += seconds
            for _ in 0..<width { estimator.finish(at: time, isYielding: isYielding, latency: seconds) }
        }
        return time
    }

    @Test("The throughput follows the network, and pauses don't count")
    func throughput() throws {
        var estimator = PrefetchPaceEstimator()
        #expect(estimator.pace == nil)
        var time = run(&estimator, from: 5, count: 60, width: 6, seconds: 0.1)
        var pace = try #require(estimator.pace)
        #expect(abs(pace.throughput - 60) < 8 && pace.latency == 0.1)
        time = run(&estimator, from: time + 100, count: 600, width: 6, seconds: 0.02)
        pace = try #require(estimator.pace)
        #expect(abs(pace.throughput - 300) < 30 && pace.latency == 0.02)
        _ = run(&estimator, from: time, count: 60, width: 6, seconds: 0.5)
        pace = try #require(estimator.pace)
        #expect(abs(pace.throughput - 12) < 6 && pace.latency == 0.5)
    }

    @Test("Time in which the prefetcher leaves the network to others doesn't count")
    func yielding() throws {
        var estimator = PrefetchPaceEstimator()
        let time = run(&estimator, from: 0, count: 60, width: 6, seconds: 0.1)
        let pace = try #require(estimator.pace)
        _ = run(&estimator, from: time, count: 40, width: 1, seconds: 3, isYielding: true)
        #expect(estimator.pace == pace)
    }

    @Test("Cached, failed, and canceled images don't count")
    func nothing() {
        var estimator = PrefetchPaceEstimator()
        for second in 0..<20 {
            estimator.start(at: Double(second), isYielding: false)
            estimator.finish(at: Double(second) + 0.5, isYielding: false, latency: nil)
        }
        #expect(estimator.pace == nil)
    }

    @Test("Urgent prefetches don't wait for visible requests")
    func urgent() {
        var table = PrefetchStateMachine(concurrency: 2)
        let request = ImageRequest(url: URL(filePath: "/a"))
        _ = table.add(Array(repeating: request, count: 20), isOpen: false, .memoryCache, .low)
        table.yielding = .complete
        #expect(table.next() == nil && table.isLimited)
        table.setUrgent(concurrency: 5)
        for _ in 0..<5 { #expect(table.next() != nil) }
        #expect(table.next() == nil && table.running == 5)
        table.setUrgent(concurrency: nil)
        #expect(table.concurrency == 2 && table.isLimited)
    }
}
