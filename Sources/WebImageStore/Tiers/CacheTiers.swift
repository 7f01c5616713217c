// SPDX-License-Identifier: MIT

/// The tiers an operation may touch.
public struct CacheTiers: OptionSet, Sendable, Hashable {
    /// Bits of the tiers.
    public let rawValue: Int
    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Decoded pictures in memory.
    public static let memory = CacheTiers(rawValue: 1)
    /// Encoded bytes on disk.
    public static let disk = CacheTiers(rawValue: 2)
    /// Encoded bytes elsewhere: tiers of an app's own that do not call themselves otherwise.
    public static let remote = CacheTiers(rawValue: 4)
    /// All of them.
    public static let all: CacheTiers = [.memory, .disk, .remote]
}
