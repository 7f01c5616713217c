// SPDX-License-Identifier: MIT

#if Server
    import Foundation
    import WebImageMemcached
    import WebImageServer

    /// The cache tier on memcached servers, if the settings name servers.
    struct SharedTier: Sendable {
        #if Memcached
            private let tier: MemcachedTier?
        #endif

        /// Throws an error if a server isn't valid, or if the build has no support for memcached.
        init(_ settings: ServiceSettings) throws {
            let servers = try settings.memcachedServers.map { text in
                guard let server = MemcachedServer(text) else {
                    throw ServiceSettings.Invalid("WEBIMAGE_MEMCACHED_SERVERS: “\(text)” isn’t HOST:PORT")
                }
                return server
            }
            #if Memcached
                var configuration = MemcachedConfiguration(servers: servers)
                configuration.secret = settings.memcachedSecret.map { Data($0.utf8) }
                if settings.memcachedLease > 0 {
                    let lease = Duration.seconds(settings.memcachedLease)
                    configuration.lease = .init(duration: lease, waitLimit: lease)
                }
                if let time = settings.memcachedLookupTimeout { configuration.lookupTimeout = .milliseconds(time) }
                if let time = settings.memcachedLifetime { configuration.timeToLive = .seconds(time) }
                tier = servers.isEmpty ? nil : MemcachedTier(configuration)
            #else
                guard servers.isEmpty else {
                    throw ServiceSettings.Invalid(
                        "WEBIMAGE_MEMCACHED_SERVERS: this build has no support for memcached (build it with the trait "
                            + "Memcached)")
                }
            #endif
        }

        var tiers: [any CacheTier] {
            #if Memcached
                return tier.map { [$0] } ?? []
            #else
                return []
            #endif
        }

        var gauges: [ServiceMetrics.Gauge] {
            #if Memcached
                guard let counts = tier?.statistics else { return [] }
                let lookups = { (kind: String, count: Int) in
                    ServiceMetrics.Gauge("webimage_memcached_lookups_total{result=\"\(kind)\"}", count, type: "counter")
                }
                let counter = { (name: String, count: Int) in
                    ServiceMetrics.Gauge("webimage_memcached_\(name)_total", count, type: "counter")
                }
                return [
                    lookups("hit", counts.hits), lookups("miss", counts.misses),
                    counter("late_hits", counts.lateHits), counter("timeouts", counts.timeouts),
                    counter("rejected_values", counts.rejectedValues), counter("writes", counts.writes),
                    counter("dropped_writes", counts.droppedWrites), counter("lease_waits", counts.leaseWaits),
                    counter("failures", counts.failures),
                    .init("webimage_memcached_ejected_servers", counts.ejectedServers.count),
                ]
            #else
                return []
            #endif
        }
    }
#endif
