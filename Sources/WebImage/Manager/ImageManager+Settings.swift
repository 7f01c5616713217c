// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

extension ImageManager {
    /// The settings that can change while a manager runs.
    ///
    /// ``ImageManager/settings`` returns the current values, and ``ImageManager/update(_:)`` changes them. They begin
    /// with the values of the ``ImageManager/Configuration``.
    public struct Settings: Sendable {
        /// The header fields that the downloader adds to each request without a header field of the same name.
        ///
        /// Requests with different header fields share neither downloads nor negative cache entries. Header fields that
        /// differ from those of the configuration are part of the cache keys, as a hash, unless they have no effect on
        /// the data, such as `User-Agent`. So an image that was loaded for one user isn't returned after the app has
        /// changed the `Authorization` header field for another user.
        public var headers: HTTPHeaderFields
        /// The maximum number of simultaneous transfers per origin over HTTP/1, which is at least 1.
        public var maxConnectionsPerHost: Int
        /// The maximum number of connections, which is at least 1.
        public var maxConnections: Int
        /// The coders. The last one that was registered is tried first.
        ///
        /// Images that are in memory remain there. To decode them again, remove them.
        public var coders: ImageCoderRegistry { didSet { changesCoders = true } }
        /// The custom loaders. The manager tries the last one first, and it tries custom loaders before the built-in
        /// ones.
        public var loaders: [any ImageLoader] { didSet { changesLoaders = true } }
        /// The tiers for encoded data that the manager tries after the disk cache, in this order. A tier that you remove
        /// keeps its entries.
        public var cacheTiers: [any CacheTier] { didSet { changesTiers = true } }
        /// The limits of the built-in memory cache.
        public var memoryCache: MemoryCache.Configuration
        /// The limits of the disk cache, or `nil` if the manager has no disk cache. In this case, a change has no
        /// effect.
        public var diskCache: DiskCache.Limits?
        fileprivate var changesCoders = false
        fileprivate var changesLoaders = false
        fileprivate var changesTiers = false

        fileprivate init(_ manager: ImageManager) {
            let snapshot = manager.pipeline.defaults.settings.current
            headers = manager.downloader.headers
            maxConnectionsPerHost = manager.downloader.maxConnectionsPerHost
            maxConnections = manager.downloader.maxConnections
            coders = snapshot.coders
            loaders = snapshot.ownLoaders
            cacheTiers = manager.cache.tiers
            memoryCache = manager.memoryCache.configuration
            diskCache = manager.diskCache?.limits
        }
    }

    /// The current settings. To change them, call ``update(_:)``.
    public var settings: Settings { Settings(self) }

    /// Changes the settings of the running manager.
    ///
    /// The new header fields, coders, and loaders apply to requests that start afterward, and all of them at the same
    /// time. A running request finishes with the settings with which it started, and a new request doesn't join its work
    /// if the settings affect the result. Limits apply immediately: a higher limit for connections starts waiting
    /// transfers, and with a lower limit, running transfers finish. Lower limits of caches evict entries. Operations on
    /// cache tiers that begin after the change use the new tiers.
    ///
    /// ```swift
    /// manager.update { settings in
    ///     settings.headers["Authorization"] = "Bearer \(token)"
    ///     settings.maxConnectionsPerHost = 2
    ///     settings.memoryCache.costLimit = 64 << 20
    /// }
    /// ```
    ///
    /// You can call this method from any thread. It doesn't wait for requests. Concurrent calls run one after the other.
    ///
    /// - Parameter change: A closure that changes the settings. It must not call this method.
    public func update(_ change: (inout Settings) -> Void) {
        let (before, after, tiers, images) = updates.withLock { _ in
            let before = settings
            var after = before
            change(&after)
            pipeline.defaults.settings.update(
                coders: after.changesCoders ? after.coders : nil, loaders: after.changesLoaders ? after.loaders : nil
            ) {
                if after.headers != before.headers { downloader.headers = after.headers }
            }
            downloader.setConnectionLimits(perHost: after.maxConnectionsPerHost, total: after.maxConnections)
            let tiers = after.changesTiers ? cache.replaceTiers(after.cacheTiers) : []
            let images = after.memoryCache == before.memoryCache ? [] : memoryCache.apply(after.memoryCache)
            if let limits = after.diskCache, limits != before.diskCache { diskCache?.limits = limits }
            return (before, after, tiers, images)
        }
        // Release the replaced objects of the application after unlocking, because their deinitializers may use the
        // manager.
        memoryCache.release(consume images)
        withExtendedLifetime((before, after, tiers)) {}
    }
}
