// SPDX-License-Identifier: MIT

/// A set of cache tiers that an operation may use.
public struct CacheTiers: OptionSet, Sendable, Hashable {
    /// The bits of the tiers.
    public let rawValue: Int
    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// The tier for decoded images in memory.
    public static let memory = CacheTiers(rawValue: 1)
    /// The tiers for encoded images on disk.
    public static let disk = CacheTiers(rawValue: 2)
    /// The tiers for encoded images in other places. Custom tiers belong to this kind by default.
    public static let remote = CacheTiers(rawValue: 4)
    /// All tiers.
    public static let all: CacheTiers = [.memory, .disk, .remote]
}
