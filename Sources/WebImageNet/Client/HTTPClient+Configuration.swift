// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

extension HTTPClient {
    /// The configuration of an ``HTTPClient``.
    ///
    /// The client reads the configuration once, when it's created.
    public struct Configuration: Sendable {
        /// The storage for responses.
        public enum Storage: Sendable {
            /// No storage. Every request is sent to the server.
            case none
            /// Storage in memory, with a limit in bytes.
            case memory(bytes: Int)
            /// A custom store, for example a ``DiskResponseStore``.
            case store(any HTTPResponseStore)
        }

        /// The storage for responses. The default is memory with a limit of 64 MiB.
        public var storage = Storage.memory(bytes: 64 << 20)
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
        public var now: @Sendable () -> Date = { Date() }

        /// Creates a configuration with the default values.
        public init() {}

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
