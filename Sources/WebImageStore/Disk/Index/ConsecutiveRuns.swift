// SPDX-License-Identifier: MIT

extension Collection<Int> {
    /// The numbers as ranges, in their order: as long as each is one more than the one before it.
    func consecutiveRuns() -> [ClosedRange<Int>] {
        var runs: [ClosedRange<Int>] = []
        for number in self {
            if let last = runs.last, last.upperBound != .max, last.upperBound + 1 == number {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs
    }
}
