// SPDX-License-Identifier: MIT

/// The decisions when a request may use a helper, so that all helpers together don't exceed a limit of memory.
///
/// It's a pure state machine. Requests that need little memory don't count, so they never wait behind large ones. Large
/// requests are admitted in the order in which they asked first, so that none waits forever.
struct HelperMemoryBudget: Sendable {
    /// The share of the limit up to which requests don't count. All helpers together exceed the limit by at most this
    /// share for each helper.
    private static let smallShare = 32
    /// The largest limit, so that no sum overflows.
    private static let maxLimit = 1 << 50

    /// The maximum memory of all requests, in bytes.
    private let limit: Int
    private var used = 0
    /// The requests that wait for memory, in the order in which they asked.
    private var queue: [UInt64] = []

    init(limit: Int) { self.limit = min(max(1, limit), Self.maxLimit) }

    /// Returns the memory that a request may use. A request that needs more than all helpers together may use has the
    /// whole budget for itself.
    func allowance(for need: Int) -> Int { min(max(0, need), limit) }

    /// Admits a request, or adds it to the queue. `need` is in bytes. If `isNested` is `true`, an admitted request
    /// waits for this one, so it must not wait for the end of others. Returns whether the request was admitted.
    mutating func admit(_ number: UInt64, need: Int, isNested: Bool) -> Bool {
        let amount = counted(need)
        if amount > 0, !isNested {
            let isFirst = queue.first.map { $0 == number } ?? true
            // A request that needs the whole budget is admitted when no other one runs, because it would otherwise wait
            // forever.
            guard isFirst, amount <= limit - min(limit, used) || used == 0 else {
                if !queue.contains(number) { queue.append(number) }
                return false
            }
        }
        remove(number)
        used += amount
        return true
    }

    /// Removes a request that doesn't wait any longer.
    mutating func remove(_ number: UInt64) { queue.removeAll { $0 == number } }

    mutating func release(need: Int) { used -= counted(need) }

    private func counted(_ need: Int) -> Int {
        let amount = allowance(for: need)
        return amount <= limit / Self.smallShare ? 0 : amount
    }
}
