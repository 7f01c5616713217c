// SPDX-License-Identifier: MIT

import Foundation
import WebImageStore

/// The dates at which this machine removed entries, because a removal may not reach its server.
package struct RemovalDates: Sendable {
    /// The number of keys at which the table discards its older half.
    package static let limit = 4_096
    private var dates: [CacheKey: Date] = [:]
    private var all = Date.distantPast

    /// Creates an empty table.
    package init() {}

    /// Records the removal of a key.
    package mutating func remove(_ key: CacheKey, at date: Date) {
        if dates.count >= Self.limit, dates[key] == nil {
            let median = dates.values.sorted()[dates.count / 2]
            dates = dates.filter { $0.value > median }
        }
        dates[key] = date
    }

    /// Records the removal of all keys.
    package mutating func removeAll(at date: Date) {
        all = date
        dates = [:]
    }

    /// Discards the removal of a key because an entry is stored.
    package mutating func restore(_ key: CacheKey) { dates[key] = nil }

    /// Returns whether an entry was stored before the removal of its key.
    package func hides(_ entry: CacheEntry) -> Bool {
        entry.storedAt <= all || dates[entry.key].map { entry.storedAt <= $0 } ?? false
    }
}

/// The leases of this machine, and the keys for which it doesn't wait. All times are in seconds.
package struct LeaseTable: Sendable {
    /// The number of keys at which a table discards its older half.
    package static let limit = 1_024
    private var owned: [CacheKey: Double] = [:]
    private var avoided: [CacheKey: Double] = [:]

    /// Creates an empty table.
    package init() {}

    /// Returns whether a lookup may take the lease of a key or wait for it.
    ///
    /// A machine that has the lease doesn't wait for itself.
    package func mayWait(for key: CacheKey, at now: Double) -> Bool {
        (owned[key] ?? 0) <= now && (avoided[key] ?? 0) <= now
    }

    /// Records that this machine has the lease of a key.
    package mutating func own(_ key: CacheKey, until end: Double) { Self.insert(key, end, into: &owned) }

    /// Records that the lease of a key was released.
    package mutating func disown(_ key: CacheKey) { owned[key] = nil }

    /// Records that waiting for a key had no effect.
    package mutating func avoid(_ key: CacheKey, until end: Double) { Self.insert(key, end, into: &avoided) }

    private static func insert(_ key: CacheKey, _ end: Double, into table: inout [CacheKey: Double]) {
        if table.count >= limit {
            let newest = table.values.max() ?? end
            let oldest = table.values.min() ?? end
            // The ends are evenly distributed, so about half of the keys stay.
            table = table.filter { $0.value > (newest + oldest) / 2 }
        }
        table[key] = end
    }
}
