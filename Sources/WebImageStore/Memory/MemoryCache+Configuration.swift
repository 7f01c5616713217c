// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

extension MemoryCache {
    /// The limits of a memory cache.
    public struct Configuration: Sendable {
        /// The maximum total size of the cached images, in bytes of pixel data. The default is one eighth of the memory
        /// that this process can use, up to 512 MiB.
        public var costLimit = MemoryCache.defaultCostLimit
        /// The maximum number of cached images. The default is unlimited.
        public var countLimit = Int.max
        /// The maximum size of one image in the memory cache, in bytes of pixel data. The manager delivers larger images
        /// but doesn't cache them. The default is `nil`, which means one tenth of `costLimit`.
        public var entryCostLimit: Int?
        /// The time during which a cached image can be returned after it was stored. The default is `nil`, which means
        /// unlimited. HTTP freshness rules apply in addition.
        public var timeToLive: Duration?
        /// The time source for times to live. The default is the system clock.
        package var clock = TimeSource.system

        /// Creates a configuration with the default limits.
        public init() {}
    }

    /// Creates an empty cache with the limits of a configuration.
    public convenience init(configuration: Configuration) {
        self.init(
            costLimit: configuration.costLimit, countLimit: configuration.countLimit,
            entryLimit: configuration.entryCostLimit, timeToLive: configuration.timeToLive.map { $0 / .seconds(1) },
            clock: configuration.clock)
    }
}
