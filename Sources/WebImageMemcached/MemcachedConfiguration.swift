// SPDX-License-Identifier: MIT

import Foundation
import WebImageStore

/// A memcached server of a cache tier.
public struct MemcachedServer: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The host name or the numeric address.
    public var host: String
    /// The TCP port. The default is 11211.
    public var port: UInt16
    /// The share of the keys that the server receives, in relation to the weights of the other servers. The default is
    /// 1, which is also the minimum.
    public var weight: UInt32

    /// Creates a description of a server.
    ///
    /// - Parameters:
    ///   - host: The host name or the numeric address.
    ///   - port: The TCP port. The default is 11211.
    ///   - weight: The weight. The default is 1.
    public init(host: String, port: UInt16 = 11_211, weight: UInt32 = 1) {
        self.host = host
        self.port = port
        self.weight = max(1, weight)
    }

    /// Creates a description from text of the form `host`, `host:port`, or `[address]:port`.
    ///
    /// The result is `nil` if the host is empty or the port isn't a number from 1 to 65,535.
    public init?(_ text: String) {
        guard let endpoint = ServerEndpoint(text, defaultPort: 11_211) else { return nil }
        self.init(host: endpoint.host, port: endpoint.port)
    }

    /// The host and the port.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The settings of a memcached tier.
public struct MemcachedConfiguration: Sendable, Hashable {
    /// A lease, with which the machines of a fleet agree on one that loads an image.
    ///
    /// A lookup that misses takes the lease of the key, so the caller loads the image. Lookups on other machines wait
    /// until the image is stored or until ``waitLimit`` expires.
    public struct Lease: Sendable, Hashable {
        /// The time after which memcached releases the lease of a machine that doesn't store the image. The default is
        /// 10 seconds, and the minimum is one second.
        public var duration: Duration
        /// The longest time that a lookup waits for another machine. The default is 2 seconds.
        public var waitLimit: Duration

        /// Creates the settings of a lease.
        public init(duration: Duration = .seconds(10), waitLimit: Duration = .seconds(2)) {
            self.duration = duration
            self.waitLimit = waitLimit
        }
    }

    /// The servers. All machines must have the same list. The order has no meaning.
    public var servers: [MemcachedServer]
    /// The text before the hash in each key. The default is `img:v1:`. It must contain neither whitespace nor control
    /// characters, which are removed, and only its first 128 bytes count.
    public var keyPrefix = "img:v1:"
    /// The timeout for opening a connection. The default is 100 milliseconds.
    ///
    /// It doesn't include the resolution of a host name, which has the timeouts of the system's resolver. It happens on a
    /// thread of the tier, and its result is used for one minute. Numeric addresses need none.
    public var connectTimeout = Duration.milliseconds(100)
    /// The timeout of an operation on an open connection. The default is 150 milliseconds.
    public var operationTimeout = Duration.milliseconds(150)
    /// The time after which a request also contacts the origin. The default is 50 milliseconds. It doesn't include
    /// ``Lease/waitLimit``.
    ///
    /// The lookup continues, and its result counts if it comes first. The timeouts of the connection and of its operations
    /// end the lookup. A lookup that nothing can overtake, such as ``ImageCache/entry(for:in:)``, is a miss after this
    /// time.
    public var lookupTimeout = Duration.milliseconds(50)
    /// The number of connections to each server, each with a thread. The default is 4.
    public var connectionsPerServer = 4
    /// The maximum number of operations that wait for a connection to one server. Further lookups are misses. The
    /// default is 256.
    public var maxWaitingOperations = 256
    /// The maximum size of a stored value in bytes, including metadata. The tier doesn't store larger entries. The
    /// default is 1,000,000, because memcached accepts 1 MiB by default.
    public var maxValueSize = 1_000_000
    /// The longest time for which memcached keeps an entry. The default is 7 days, and the maximum is 30 days.
    ///
    /// The tier changes each value randomly by up to 10 percent, so entries that were stored together don't expire
    /// together.
    public var timeToLive = Duration.seconds(7 * 86_400)
    /// The maximum number of entries that wait to be written. If there are more, the tier drops the oldest. The default
    /// is 256.
    public var maxPendingWrites = 256
    /// The maximum total size in bytes of the data that waits to be written. The default is 64 MiB.
    public var maxPendingBytes = 64 << 20
    /// A secret with which the tier authenticates its values (HMAC-SHA-256), or `nil` to rely on checksums only. The
    /// default is `nil`.
    ///
    /// With a secret, a server that an attacker controls can't plant data. All machines must have the same secret.
    public var secret: Data?
    /// A Boolean value that indicates whether responses with `Cache-Control: private` are stored. The default is
    /// `false`, because the servers are shared.
    public var storesPrivateResponses = false
    /// The number of failures within ``failureWindow`` after which a server is ejected. The default is 5.
    public var failureLimit = 5
    /// The period in which failures count. The default is 10 seconds.
    public var failureWindow = Duration.seconds(10)
    /// The time after which the tier probes an ejected server. Each failed probe doubles it, up to one minute. The
    /// default is 5 seconds.
    public var retryDelay = Duration.seconds(5)
    /// A Boolean value that indicates whether removing all entries also empties the servers, which affects all their
    /// users. The default is `false`, so this tier ignores all entries that were stored before.
    public var flushesServers = false
    /// The lease, or `nil` if machines don't wait for each other. The default is `nil`.
    public var lease: Lease?

    /// Creates a configuration with the default settings.
    ///
    /// - Parameter servers: The servers. If there are none, every lookup is a miss.
    public init(servers: [MemcachedServer]) { self.servers = servers }
}

extension MemcachedConfiguration {
    /// The prefix without characters that memcached doesn't allow in keys.
    var normalizedPrefix: String {
        String(decoding: keyPrefix.utf8.filter { $0 > 0x20 && $0 != 0x7F }.prefix(128), as: UTF8.self)
    }

    /// Returns the number of seconds after which memcached deletes a value. A random number from -1 to 1 selects the
    /// deviation.
    func expiration(of entryLifetime: Duration?, deviation: Double) -> UInt32? {
        // memcached takes longer times as dates.
        let longest = min(timeToLive / .seconds(1), 30 * 86_400 / 1.1)
        let wanted = min(longest, entryLifetime.map { $0 / .seconds(1) } ?? longest)
        // The entry's own lifetime is a limit, so it's only shortened.
        let isOwn = entryLifetime != nil && wanted < longest
        let seconds = (wanted * (1 + 0.1 * (isOwn ? -abs(deviation) : deviation))).rounded(.down)
        // Zero means no limit to memcached.
        return seconds >= 1 ? UInt32(seconds) : nil
    }
}
