// SPDX-License-Identifier: MIT

/// The event from which the age of a cache entry is counted.
public enum CacheExpiration: String, Sendable, Hashable, Codable, CaseIterable {
    /// The time when the entry was stored. For the disk cache, a revalidation (304) counts like a store.
    case sinceStored = "since-stored"
    /// The last use of the entry, so entries that are used regularly don't expire. Storing and revalidating an entry count
    /// as uses.
    case sinceLastUse = "since-last-use"
}
