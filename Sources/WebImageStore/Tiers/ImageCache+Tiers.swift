// SPDX-License-Identifier: MIT

extension ImageCache {
    /// A set of cache tiers that an operation may use.
    public struct Tiers: OptionSet, Sendable, Hashable {
        /// The bits of the tiers.
        public let rawValue: Int
        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The tier for decoded images in memory.
        public static let memory = ImageCache.Tiers(rawValue: 1)
        /// The tiers for encoded images on disk.
        public static let disk = ImageCache.Tiers(rawValue: 2)
        /// The tiers for encoded images in other places. Custom tiers belong to this kind by default.
        public static let custom = ImageCache.Tiers(rawValue: 4)
        /// All tiers.
        public static let all: ImageCache.Tiers = [.memory, .disk, .custom]
    }
}
