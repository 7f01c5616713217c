// SPDX-License-Identifier: MIT

/// The rules for inputs that are processed at the same time, and whose results are delivered in the order of the inputs.
package struct OrderedDelivery<Result> {
    private let count: Int
    private let jobs: Int
    private let window: Int
    private var next = 0
    private var delivered = 0
    /// The results that wait for an earlier one.
    private var waiting: [Int: Result] = [:]

    /// Creates the rules for `count` inputs, of which at most `jobs` are processed at the same time. At most `window`
    /// inputs are started that aren't delivered yet, so that results don't accumulate while an earlier input is slow.
    package init(count: Int, jobs: Int, window: Int) {
        self.count = count
        self.jobs = max(1, jobs)
        self.window = max(1, window)
    }

    /// Returns the number of the input to start, or `nil` if no further input may start now.
    package mutating func start() -> Int? {
        let running = next - delivered - waiting.count
        guard next < count, running < jobs, next - delivered < window else { return nil }
        next += 1
        return next - 1
    }

    /// Adds the result of an input that was started.
    package mutating func add(_ result: Result, of input: Int) { waiting[input] = result }

    /// Returns the next result in the order of the inputs, or `nil` if it isn't available yet. It counts as delivered.
    package mutating func nextResult() -> Result? {
        guard let result = waiting.removeValue(forKey: delivered) else { return nil }
        delivered += 1
        return result
    }
}
