// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// How an ``ImageDownloader`` works. A value; read once when the downloader is created.
public struct DownloaderConfiguration: Sendable {
    /// Which proxy is used.
    public enum Proxy: Sendable, Hashable {
        /// As http_proxy, https_proxy, ALL_PROXY and NO_PROXY say.
        case environment
        /// None.
        case none
        /// This one: `http://host:port`, `https://…`, `socks5h://…`, with user and password where needed.
        case url(String)
    }

    /// Transfers that run at once at one origin over HTTP/1. Default 6, as browsers have it.
    public var connectionsPerHost = 6
    /// Connections in all. Default 64.
    public var totalConnections = 64
    /// Transfers that run at once over one HTTP/2 connection. Default 100.
    public var streamsPerConnection = 100
    /// Who goes first among transfers of equal priority at one origin. Default ``QueueOrder/fifo``.
    public var queueOrder = QueueOrder.fifo
    /// How fast transfers may start; nil for no limit. Default 80 a second, 25 at once.
    public var startRate: StartRate? = StartRate()
    /// When failed loads are tried again, for requests that do not say. Default ``RetryPolicy/standard``.
    public var retry = RetryPolicy.standard
    /// The clock of waits between attempts. Default the system's.
    public var retryClock: any Clock<Duration> = ContinuousClock()
    /// How parts of lost and cancelled transfers are kept, to be continued later; nil for not at all. Default: in
    /// memory.
    public var resume: ResumeConfiguration? = ResumeConfiguration()
    /// Time limits of requests that have none of their own.
    public var timeouts = LoadTimeouts()
    /// Redirects that are followed, 0 to 20. Default 10.
    public var maxRedirects = 10
    /// Whether a redirect may lead from https to http. Default false.
    public var allowsDowngrade = false
    /// The User-Agent field. Default `WebImage/0.1`.
    public var userAgent = "WebImage/0.1"
    /// The Accept field. Default: the formats that are always there, then anything.
    public var accept = "image/webp,image/png,image/jpeg,image/gif,image/bmp;q=0.9,*/*;q=0.5"
    /// Sent with every request that has no field of the same name. To the first origin only where a redirect leads
    /// to another one.
    public var fields = HTTPFields()
    /// Statuses whose body is the picture. Default 200…299.
    public var acceptedStatuses: ClosedRange<Int> = 200...299
    /// Which addresses may be connected to. Default ``AddressPolicy/any``.
    public var addressPolicy = AddressPolicy.any
    /// Which proxy is used. Default ``Proxy/environment``.
    public var proxy = Proxy.environment
    /// Whom to trust. Default the system's authorities.
    public var tls = TLSConfiguration.system
    /// Whether HTTP/2 is offered to https servers. Default true.
    public var allowsHTTP2 = true

    /// Defaults throughout.
    public init() {}
}

/// Whom the downloader trusts.
public struct TLSConfiguration: Sendable, Hashable {
    /// PEM file of the authorities to trust in place of the system's; nil for the system's.
    public var authorities: String?
    /// Hosts (in lower case) whose certificates are not checked at all. For development only.
    public var uncheckedHosts: Set<String>

    /// Creates a configuration.
    public init(authorities: String? = nil, uncheckedHosts: Set<String> = []) {
        self.authorities = authorities
        self.uncheckedHosts = uncheckedHosts
    }

    /// The system's authorities.
    public static let system = TLSConfiguration()

    /// The authorities of a PEM file in place of the system's.
    public static func authorities(_ path: String) -> TLSConfiguration { TLSConfiguration(authorities: path) }

    /// No check for these hosts, the system's authorities for all others. For development only.
    public static func insecure(hosts: Set<String>) -> TLSConfiguration { TLSConfiguration(uncheckedHosts: hosts) }
}
