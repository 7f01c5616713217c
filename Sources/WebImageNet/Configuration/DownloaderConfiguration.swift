// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// How an ``ImageDownloader`` works. A value; read once when the downloader is created.
public struct DownloaderConfiguration: Sendable {
    /// Which proxy is used.
    public enum Proxy: Sendable, Hashable {
        /// As http_proxy (in lower case alone), HTTPS_PROXY, ALL_PROXY and NO_PROXY say; none where an address
        /// policy is set.
        case environment
        /// None.
        case none
        /// This one: `http://host:port`, `https://…`, or `socks5h://…`, which resolves names itself; with
        /// `user:password@` where needed.
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
    /// Least seconds between two reports of a download's progress by a manager. The first and the last one always
    /// come; bytes for previews are not held back. Default 0: a report for everything that comes.
    public var minimumProgressInterval = 0.0
    /// The maximum number of redirects that are followed, 0 to 20.
    ///
    /// The default is 20, as in Fetch.
    public var maxRedirects = 20
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
    public var acceptedStatuses = StatusFilter.success
    /// Content types that are accepted, such as `image/*`; others fail with 2022. Default empty: all, since the
    /// bytes decide.
    public var acceptedContentTypes: [String] = []
    /// The URL schemes that may be loaded, also for redirects and alternatives.
    ///
    /// Another scheme fails with ``RequestError/unsupportedScheme(_:)`` (1003), or with 2009 if a redirect led to it.
    /// The default is `nil`, which means `https` and `http`.
    public var allowedSchemes: Set<String>?
    /// Which addresses may be connected to. Default ``AddressPolicy/any``.
    public var addressPolicy = AddressPolicy.any
    /// Which proxy is used. Default ``Proxy/environment``.
    public var proxy = Proxy.environment
    /// Whom to trust. Default the system's authorities.
    public var tls = TLSConfiguration.system
    /// The cookies that are sent and stored.
    ///
    /// The default is ``CookiePolicy/disabled``.
    public var cookies = CookiePolicy.disabled
    /// Users and passwords for servers that ask (401). Default nil: such servers fail with 2017.
    public var credentials: CredentialStore?
    /// Decides on redirects within the rules above. Default nil: they are followed.
    public var redirectPolicy: RedirectPolicy?
    /// Remembers hosts that want https alone. Default nil: none.
    public var strictTransport: StrictTransport?
    /// Stand between callers and the network, the first one outermost. Default none.
    public var interceptors: [any LoadInterceptor] = []
    /// Change whole bodies, in this order. Default none.
    public var responseInterceptors: [any ResponseInterceptor] = []
    /// Whether HTTP/2 is offered to https servers. Default true.
    public var allowsHTTP2 = true

    /// Whether equal requests share one transfer. False for owners that share responses themselves, such as managers.
    package var sharesTransfers = true

    /// Defaults throughout.
    public init() {}
}
