// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage

@testable import WebImagePrograms

@Suite("Simulated network problems of the album")
struct SimulatedNetworkTests {
    @Test("The outcome of a response is deterministic, and the given percentage fails", arguments: [0, 10, 50, 100])
    func share(percent: Int) {
        let behaviour = SimulatedNetwork(delay: 1, failures: percent)
        var failed = 0
        var kinds: Set<Bool> = []
        for number in 0..<2_000 {
            let fate = behaviour.outcome(of: "/album/a.jpg?copy=\(number)", attempt: 1)
            #expect(fate == behaviour.outcome(of: "/album/a.jpg?copy=\(number)", attempt: 1))
            #expect((0.5...1.5).contains(fate.delay))
            if let failure = fate.failure {
                failed += 1
                kinds.insert(failure == .cut)
            }
        }
        #expect(abs(failed - percent * 20) <= 60)
        #expect(percent == 0 ? kinds.isEmpty : kinds.count == 2)
    }

    @Test("Another attempt can have another outcome")
    func attempts() {
        let behaviour = SimulatedNetwork(failures: 50)
        let fates = (0..<64).map { behaviour.outcome(of: "/a", attempt: $0).failure != nil }
        #expect(fates.contains(true) && fates.contains(false))
    }

    @Test("Without simulated problems, there's no delay and no failure")
    func nothing() {
        #expect(SimulatedNetwork().outcome(of: "/a", attempt: 1) == .init(delay: 0, failure: nil))
        #expect(SimulatedNetwork(delay: -3).outcome(of: "/a", attempt: 1).delay == 0)
    }
}
