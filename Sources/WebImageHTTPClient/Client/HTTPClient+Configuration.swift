// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageNet
import WebImageStore

extension HTTPClient {
    /// The configuration of an ``HTTPClient``.
    ///
    /// The client reads the configuration once, when it's created.
    public struct Configuration: Sendable {
        /// The maximum size of the responses in memory, in bytes. The default is 64 MiB.
        ///
        /// If it's 0, the client stores no responses. If ``diskCache`` is set, this property has no effect.
        public var memoryCacheLimit = 64 << 20
        /// The disk cache that stores the responses instead of the memory, or `nil` for storage in memory.
        ///
        /// Other code can use the same disk cache, because the keys don't collide. The default is `nil`.
        public var diskCache: DiskCache?
        /// A store that takes precedence over the other options.
        package var store: (any HTTPResponseStore)?
        /// The policy of the cache.
        public var cachePolicy = HTTPCachePolicy()
        /// The options for connections, timeouts, proxies, TLS, cookies, credentials, retries, and redirects.
        ///
        /// The defaults are those for images, except that the client allows 64 simultaneous transfers per origin and
        /// 128 in total, accepts any content type, and makes no retries. Interceptors, accepted statuses, resume data,
        /// and content types have no effect.
        public var network = HTTPClient.Configuration.defaultNetwork
        /// The maximum size of a body, in bytes. The default is 32 MiB.
        public var maxBodySize = 32 << 20
        /// A closure that returns the current time for the cache.
        package var now: @Sendable () -> Date = { Date() }

        /// Creates a configuration with the default values.
        public init() {}

        var responseStore: (any HTTPResponseStore)? {
            if let store { return store }
            if let diskCache { return DiskResponseStore(diskCache, now: now) }
            return memoryCacheLimit > 0 ? MemoryResponseStore(byteLimit: memoryCacheLimit) : nil
        }

        private static var defaultNetwork: ImageDownloader.Configuration {
            var network = ImageDownloader.Configuration()
            network.maxConnectionsPerHost = 64
            network.maxConnections = 128
            network.accept = "*/*"
            network.retry = .never
            return network
        }
    }
}
