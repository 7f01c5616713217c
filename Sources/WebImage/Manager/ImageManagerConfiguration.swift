// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageCore
import WebImageNet
import WebImageStore

/// All settings of a manager, in one value.
public struct ImageManagerConfiguration: Sendable {
    /// Settings of the stores.
    public struct Cache: Sendable {
        /// Limits of the memory cache.
        public var memory = MemoryCacheConfiguration()
        /// Place and limits of the disk cache. Nil: no disk cache.
        public var disk: DiskCacheConfiguration? = DiskCacheConfiguration()
    }

    /// Settings of the stores.
    public var cache = Cache()
    /// Connections, time limits, redirects, proxy, TLS.
    public var downloader = DownloaderConfiguration()
    /// An app's own loaders; the last is asked first, before the built-in ones.
    public var loaders: [any ImageLoader] = []
    /// Formats. Default: all that the package was built with.
    public var coders = CoderRegistry.standard
    /// What a picture may cost. Default ``Limits/desktop``.
    public var limits = Limits.desktop
    /// Policy of requests that name none. Default ``CachePolicy/http``.
    public var cachePolicy = CachePolicy.http
    /// Transformers of requests that name none. Default none.
    public var transformers: [any ImageTransformer] = []
    /// Gives the identity of the bytes behind a URL where it is not the URL itself; nil keeps the URL.
    public var key: (@Sendable (URL) -> String?)?
    /// Threads for decoding, transforming and encoding. Default one per active core.
    public var workerThreads = ProcessInfo.processInfo.activeProcessorCount
    /// Decoded bytes that all running decodes may hold together. Default 512 MiB.
    public var decodeBudget = 512 << 20
    /// Pieces of work that may wait for a thread; one more is refused with a ``LimitError`` of kind overloaded.
    /// Default 100,000.
    public var waitingLimit = 100_000
    /// The clock by which freshness is judged. Default the system's.
    public var now: @Sendable () -> Date = { Date() }

    /// The defaults.
    public init() {}
}

extension Int {
    /// `count` × 2^20 bytes.
    public static func megabytes(_ count: Int) -> Int { count << 20 }
    /// `count` × 2^30 bytes.
    public static func gigabytes(_ count: Int) -> Int { count << 30 }
}
