// SPDX-License-Identifier: MIT

import Glibc
import Testing
import WebImage
import WebImageGTK
import WebImageTestSupport

@Suite("Plan of a flight")
struct FlightPlanTests {
    /// Returns whether all images of a sequence arrive in time, if the last of them is the last position.
    private func isInTime(_ count: Int, remaining: Int, throughput: Double, latency: Double, rate: Double) -> Bool {
        (0..<count).allSatisfy { distance in
            let arrival = latency + Double(count - distance) / throughput
            return arrival <= log(Double(remaining) / Double(distance + 1)) / rate + 1e-9
        }
    }

    @Test(
        "The plan is the longest sequence that arrives in time",
        arguments: [(30.0, 0.16), (300, 0.03), (1_000, 0.01), (5, 0.4)], [200, 2_000])
    func longest(network: (throughput: Double, latency: Double), remaining: Int) {
        let plan = FlightPlan(
            rate: 2, pace: PrefetchPace(throughput: network.throughput / 0.9, latency: network.latency))
        let reach = plan.reach(remaining: remaining, limit: .max) { _ in false }
        func fits(_ count: Int) -> Bool {
            isInTime(
                count, remaining: remaining, throughput: network.throughput, latency: network.latency, rate: 2)
        }
        #expect(fits(reach))
        #expect(reach == remaining || !fits(reach + 2))
    }

    @Test("Images that are loaded leave time for others")
    func loaded() {
        let plan = FlightPlan(rate: 2, pace: PrefetchPace(throughput: 30, latency: 0.1))
        let none = plan.reach(remaining: 2_000, limit: .max) { _ in false }
        let some = plan.reach(remaining: 2_000, limit: .max) { $0 < 20 }
        #expect(some > none && some <= none + 21)
        #expect(plan.reach(remaining: 2_000, limit: .max) { _ in true } == 2_000)
        #expect(plan.reach(remaining: 2_000, limit: 7) { _ in false } == 7)
    }

    @Test("A plan with invalid values is empty", arguments: [0.0, -1, .nan, .infinity])
    func invalid(value: Double) {
        let plan = FlightPlan(rate: value)
        #expect(plan.reach(remaining: 100, limit: .max) { _ in false } == 0)
        let pace = FlightPlan(rate: 2, pace: PrefetchPace(throughput: value, latency: 0.1))
        #expect(pace.reach(remaining: 100, limit: .max) { _ in false } == 0)
        #expect(FlightPlan(rate: 2).reach(remaining: -5, limit: .max) { _ in false } == 0)
    }
}
