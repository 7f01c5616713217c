// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageStore

@Suite("Consecutive numbers as ranges")
struct ConsecutiveRunsTests {
    @Test("Consecutive numbers form one range, and the order is kept")
    func runs() {
        #expect([Int]().consecutiveRuns().isEmpty)
        #expect([7].consecutiveRuns() == [7...7])
        #expect([1, 2, 3, 5, 4, 4, 5, 9].consecutiveRuns() == [1...3, 5...5, 4...4, 4...5, 9...9])
        #expect([Int.max - 1, .max, .min, .min + 1].consecutiveRuns() == [(.max - 1) ... .max, .min...(.min + 1)])
    }

    @Test("Ranges of random numbers expand to the same numbers and can't be merged further")
    func model() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            let numbers = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                Int.random(in: 0..<12, using: &generator)
            }
            let runs = numbers.consecutiveRuns()
            #expect(runs.flatMap { Array($0) } == numbers)
            #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.upperBound + 1 != $1.lowerBound })
        }
    }
}
