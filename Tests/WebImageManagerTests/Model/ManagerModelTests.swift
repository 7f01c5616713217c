// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport

@testable import WebImage

/// The number of steps of the model. `make soak` sets a larger number.
private let steps = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_STEPS"].flatMap(Int.init) ?? 3_000
/// The first random seed.
private let firstSeed = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_SEED"].flatMap(UInt64.init) ?? 1

@Suite("Manager model", .timeLimit(.minutes(steps > 10_000 ? 240 : 5)))
struct ManagerModelTests {
    @Test(
        "In random situations, each subscriber receives one terminal event and the correct image, and no work remains")
    func promises() async throws {
        let stepsPerWorld = 500
        var successes = 0
        for index in 0..<UInt64(max(1, steps / stepsPerWorld)) {
            let seed = firstSeed + index
            let world = try ModelWorld(seed: seed)
            for _ in 0..<stepsPerWorld { await world.step() }
            await world.rest()
            successes += world.successes.value
            #expect(world.complaints.value == [], "WEBIMAGE_SOAK_SEED=\(seed)")
            await world.fixture.manager.shutdown()
        }
        #expect(successes > steps / 50)
    }
}
