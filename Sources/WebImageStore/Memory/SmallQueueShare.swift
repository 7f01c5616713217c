// SPDX-License-Identifier: MIT

/// The share of the cache that new entries can occupy, adjusted to the requests.
///
/// If entries return shortly after their eviction from one of the two queues, that queue was too short for them, so it
/// grows at the expense of the other one. The share settles where one more slot would gain the same number of hits in
/// either queue. It's a pure state machine.
struct SmallQueueShare: Equatable {
    /// The share of the total cost that the small queue can have before its entries are evicted.
    private(set) var value = 0.1
    /// The limits of ``value``. Neither queue ever disappears, or no entry could return to it.
    static let range = 0.01...0.9
    /// The number of evictions from a queue, as a fraction of the number of entries, within which the return of an
    /// entry is the result of a queue that is too short.
    private static let window = 0.2
    /// The share above which recent requests predict the next ones better than the number of earlier requests.
    private static let recencyShare = 0.28

    /// Each read saves an entry of the main queue once. If the small queue has grown a lot, popularity changes quickly.
    /// Entries that were popular earlier would then occupy the main queue for several turns.
    var effectiveReads: UInt8 { value > Self.recencyShare ? 1 : 3 }

    static func window(count: Int) -> Int { max(4, Int(Double(count) * window)) }

    /// Longer queues mistake entries that are rarely requested for popular ones.
    static func ghostLimit(count: Int) -> Int { max(8, Int(Double(count) * 0.7)) }

    /// Records that an entry returned whose age is the number of evictions from its queue since its own eviction.
    mutating func entryReturned(age: Int, wasMain: Bool, count: Int) {
        guard age < Self.window(count: count) else { return }
        // Two slots at a time adjust the share within one turn of the cache without making it unstable.
        let step = 2 / Double(count + 1)
        value = min(max(value + (wasMain ? -step : step), Self.range.lowerBound), Self.range.upperBound)
    }
}
