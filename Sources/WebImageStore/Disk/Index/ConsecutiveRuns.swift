// SPDX-License-Identifier: MIT

extension Collection<Int> {
    /// Returns the numbers as ranges, in order. Each range covers numbers that increase by one.
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
