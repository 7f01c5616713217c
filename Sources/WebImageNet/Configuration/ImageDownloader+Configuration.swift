// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

extension ImageDownloader {
    /// The configuration of an ``ImageDownloader``.
    ///
    /// The downloader reads the configuration once, when it's created.
    public struct Configuration: Sendable {
        /// The proxy to use.
        public enum Proxy: Sendable, Hashable, CustomStringConvertible {
            /// The proxy from the environment variables `http_proxy` (lowercase only), `HTTPS_PROXY`, `ALL_PROXY`, and
            /// `NO_PROXY`. If an address policy is set, no proxy is used.
            case environment
            /// No proxy.
            case disabled
            /// A specific proxy: `http://host:port`, `https://…`, or `socks5h://…`, which resolves host names itself.
            /// The URL can contain `user:password@`.
            ///
            /// If `enforcesAddressPolicy` is `true`, the proxy itself rejects private addresses. With
            /// ``ImageDownloader/Configuration/AddressPolicy/publicOnly``, a proxy without this declaration isn't used,
            /// and all requests fail. The default is `false`.
            case url(URL, enforcesAddressPolicy: Bool = false)

            /// The name of the case or the URL of the proxy, without user name and password.
            public var description: String {
                switch self {
                case .environment: "environment"
                case .disabled: "disabled"
                case .url(let url, _): SecretNames.removed(from: url.absoluteString)
                }
            }
        }

        /// The maximum number of simultaneous transfers per origin over HTTP/1. The default is 6, as in browsers.
        public var maxConnectionsPerHost = 6
        /// The maximum number of connections. The default is 64.
        public var maxConnections = 64
        /// The maximum number of simultaneous transfers over one HTTP/2 connection. The default is 100.
        public var maxStreamsPerConnection = 100
        /// The maximum total size of response bodies in flight, in bytes. Bodies that a manager hasn't decoded yet count,
        /// too.
        ///
        /// At the limit, only the transfer with the highest priority continues, so one body can exceed the limit. The
        /// other ones are paused for at most ``timeout``, which doesn't count for their timeouts. All downloaders and clients of the
        /// process with the same limit share it. The default is 256 MiB or one eighth of the memory, whichever is less.
        public var maxBodyBytesInFlight = BodyBudget.defaultLimit
        /// The order of transfers with the same priority and origin. The default is
        /// ``ImageDownloader/Configuration/QueueOrder/fifo``.
        public var queueOrder = ImageDownloader.Configuration.QueueOrder.fifo
        /// The maximum number of transfers that start per second in the long run, or `nil` for no limit. The default is
        /// 80, so that fast scrolling doesn't overload servers.
        ///
        /// Infinity means no limit, and a value that isn't a number means the default.
        public var maxStartsPerSecond: Double? = 80
        /// The number of transfers that can start at the same time after an idle period. The default is 25.
        public var startBurst = 25
        /// The retry policy of requests that don't specify one. The default is ``RetryPolicy/standard``.
        public var retry = RetryPolicy.standard
        /// The clock for the delays between attempts. The default is the system clock.
        package var retryClock: any Clock<Duration> = ContinuousClock()
        /// The storage of resume data from interrupted and canceled transfers, or `nil` for none. By default, resume
        /// data is stored in memory.
        public var resume: ResumeOptions? = ResumeOptions()
        /// The timeout for an entire load, including redirects but not the time in the queue. The default is 60
        /// seconds.
        public var timeout = Duration.seconds(60)
        /// The timeout for establishing a connection, including name resolution and TLS. The default is 10 seconds.
        public var connectTimeout = Duration.seconds(10)
        /// The timeout without any received byte, before or during the response. The default is 15 seconds.
        public var idleTimeout = Duration.seconds(15)
        /// The minimum average speed of a response body, or `nil` for no minimum. Slower transfers time out.
        ///
        /// The default is 1 KiB per second, measured over 15 seconds.
        public var minimumSpeed: MinimumSpeed? = MinimumSpeed(bytesPerSecond: 1 << 10, duration: .seconds(15))
        /// The minimum interval between two progress reports of a download by a manager.
        ///
        /// The first and the last report are always delivered, and data for previews isn't delayed. The default is
        /// zero, which means a report for each received chunk.
        public var progressInterval = Duration.zero
        /// The maximum number of redirects to follow, from 0 to 20.
        ///
        /// The default is 20, as in the Fetch standard.
        ///
        /// A redirect within an origin reuses its HTTP/1 connection if the redirect has a body of at most 64 KiB that arrives
        /// within half a second. Otherwise, the request to the target opens another connection.
        public var maxRedirects = 20
        /// A Boolean value that indicates whether a redirect may lead from HTTPS to HTTP. The default is `false`.
        public var allowsInsecureRedirects = false
        /// The `User-Agent` header field. The default is `WebImage/` and the version of the package.
        public var userAgent = "WebImage/\(ProductVersion.current)"
        /// The `Accept` header field. The default lists the formats that don't depend on package traits and then any
        /// type.
        public var accept = "image/webp,image/png,image/jpeg,image/gif,image/bmp;q=0.9,*/*;q=0.5"
        /// The header fields that are added to each request without a header field of the same name. If a redirect
        /// leads to another origin, only header fields that are safe to share are sent there.
        public var headers = HTTPHeaderFields()
        /// The status codes of responses whose body is the image. The default is 200 to 299.
        public var acceptableStatusCodes = Set(200...299)
        /// The accepted content types, such as `image/*`. Other types fail with
        /// ``ImageError/NetworkFailure/Reason/unacceptableContentType``.
        ///
        /// The default is an empty set, which accepts all types, because the data determines the format.
        public var acceptableContentTypes: Set<String> = []
        /// The URL schemes that may be loaded, including redirects and alternatives.
        ///
        /// Another scheme fails with ``ImageError/RequestFailure/unsupportedScheme(_:)``, or with
        /// ``ImageError/NetworkFailure/Reason/redirectNotAllowed`` if a redirect led to it. The default is `nil`, which
        /// means `https` and `http`.
        package var allowedSchemes: Set<String>?
        /// The ports to which requests may be sent, including redirects and alternatives. The default is `nil`, which
        /// means all ports.
        ///
        /// A URL without a port has port 443 or 80. A request to another port fails with
        /// ``ImageError/NetworkFailure/Reason/addressNotAllowed``.
        public var allowedPorts: Set<Int>?
        /// The IP addresses to which the downloader may connect. The default is
        /// ``ImageDownloader/Configuration/AddressPolicy/any``.
        public var addressPolicy = ImageDownloader.Configuration.AddressPolicy.any
        /// The proxy. The default is ``ImageDownloader/Configuration/Proxy/environment``.
        public var proxy = Proxy.environment
        /// The TLS configuration. By default, the downloader trusts the system's authorities.
        public var tls = TLSOptions()
        /// The cookies to send and store. The default is ``CookieJar/disabled``.
        public var cookieJar = CookieJar.disabled
        /// The credentials for servers that require authentication (401). The default is `nil`, so requests to such
        /// servers fail with ``ImageError/NetworkFailure/Reason/authenticationRequired``.
        public var credentials: CredentialStore?
        /// A closure that decides about each redirect that the other options allow. The default is `nil`, which follows
        /// them.
        ///
        /// The closure runs once per redirect on the network thread, so it must be quick and must not block.
        public var redirectHandler: (@Sendable (Redirect) -> RedirectDecision)?
        /// The store of hosts that require HTTPS. The default is `nil`, which means no store.
        public var hsts: HSTSStore?
        /// The interceptors of loads, with the outermost interceptor first. The default is an empty array.
        public var interceptors: [any DownloadInterceptor] = []
        /// The interceptors that transform complete bodies, in order. The default is an empty array.
        public var bodyModifiers: [any ResponseBodyModifier] = []
        /// A Boolean value that indicates whether the downloader offers HTTP/2 to HTTPS servers. The default is `true`.
        public var allowsHTTP2 = true

        /// A closure that receives the events of all exchanges, on the thread of the event. The default is `nil`.
        package var exchangeLog: (@Sendable (ExchangeEvent) -> Void)?

        /// Whether equal requests share one transfer. Owners that share responses themselves, such as managers, set it
        /// to `false`.
        package var sharesTransfers = true

        /// Creates a configuration with the default values.
        public init() {}

        /// The configuration for servers that send requests to URLs of unknown clients.
        ///
        /// It allows public addresses and the ports 80 and 443 only. A connection may take 3 seconds, the wait for data
        /// 5 seconds, and a load 10 seconds. The minimum speed is 8 KiB per second, measured over 5 seconds, and up to 5
        /// redirects are followed. All other settings have their defaults.
        ///
        /// ```swift
        /// var configuration = ImageDownloader.Configuration.server
        /// configuration.allowedPorts?.insert(8443)
        /// ```
        public static var server: ImageDownloader.Configuration {
            var configuration = ImageDownloader.Configuration()
            configuration.connectTimeout = .seconds(3)
            configuration.idleTimeout = .seconds(5)
            configuration.timeout = .seconds(10)
            configuration.minimumSpeed = MinimumSpeed(bytesPerSecond: 8 << 10, duration: .seconds(5))
            configuration.maxRedirects = 5
            configuration.allowedPorts = [80, 443]
            configuration.addressPolicy = .publicOnly
            return configuration
        }
    }
}

extension ImageDownloader.Configuration {
    /// The order of queued transfers with the same priority.
    public enum QueueOrder: Sendable, Hashable {
        /// First in, first out.
        case fifo
        /// Last in, first out. Use it for scrolling lists, in which the newest requests are visible.
        case lifo

        var queueOrder: PriorityQueue<UInt64, RequestPriority>.Order {
            switch self {
            case .fifo: .firstInFirstOut
            case .lifo: .lastInFirstOut
            }
        }
    }
}

extension ImageDownloader.Configuration {
    /// Returns the header fields that are sent for a request with `fields`.
    ///
    /// The header fields of this configuration are added unless the request already has them. The result, which is
    /// compared for `Vary`, doesn't include cookies and credentials that are added later.
    package func sent(_ fields: HTTPHeaderFields) -> HTTPHeaderFields {
        var sent = fields
        for field in self.headers.lines where fields[field.name] == nil {
            sent.append(name: field.name, value: field.value)
        }
        let defaults = [("Accept", accept), ("User-Agent", userAgent), ("Accept-Encoding", ContentDecoder.accepted)]
        for (name, value) in defaults where sent[name] == nil { sent.append(name: name, value: value) }
        return sent
    }
}
