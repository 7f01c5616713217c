// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// How an ``HTTPClient`` works. A value; read once when the client is created.
public struct HTTPClientConfiguration: Sendable {
    /// Where answers are kept.
    public enum Storage: Sendable {
        /// Nowhere: every request goes to the server.
        case none
        /// In memory, at most so many bytes.
        case memory(bytes: Int)
        /// In a store of one's own, for example a ``DiskResponseStore``.
        case store(any HTTPResponseStore)
    }

    /// Where answers are kept. Default 64 MiB of memory.
    public var storage = Storage.memory(bytes: 64 << 20)
    /// What the cache does where it has a choice.
    public var policy = HTTPCachePolicy.standard
    /// Connections, time limits, proxies, TLS, cookies, credentials, retries, and where redirects may lead.
    ///
    /// The defaults are those for images, except for 64 simultaneous transfers at one origin and 128 in all, any content
    /// type, and no retries. Interceptors, accepted statuses, resume data, and content types have no effect.
    public var network = HTTPClientConfiguration.defaultNetwork
    /// Most bytes of body that are accepted. Default 32 MiB.
    public var maxBytes = 32 << 20
    /// Where the cache reads the time.
    public var now: @Sendable () -> Date = { Date() }

    /// Defaults throughout.
    public init() {}

    private static var defaultNetwork: DownloaderConfiguration {
        var network = DownloaderConfiguration()
        network.connectionsPerHost = 64
        network.totalConnections = 128
        network.accept = "*/*"
        network.retry = .never
        return network
    }
}
