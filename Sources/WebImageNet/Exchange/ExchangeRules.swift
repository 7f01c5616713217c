// SPDX-License-Identifier: MIT

import WebImageHTTP

/// What a downloader's configuration and a request's options say about requests and responses.
///
/// The rules are an object because almost all requests of a downloader share those of its configuration.
package final class ExchangeRules: Sendable, Hashable {
    private struct Values: Sendable, Hashable {
        var cookies: CookiePolicy
        var tls: TLSConfiguration
        var credentials: IdentityBox?
        var acceptedStatuses: StatusFilter
        var acceptedContentTypes: [String]
        var redirectPolicy: IdentifiedClosure<RedirectPolicy>?
        var retry: RetryPolicy
        var addressPolicy: AddressPolicy
        var proxy: DownloaderConfiguration.Proxy
        var maxRedirects: Int
        var allowsDowngrade: Bool
        var strictTransport: IdentityBox?
    }

    private let values: Values
    private let hash: Int
    /// The configuration without the request's options.
    let configuration: DownloaderConfiguration
    /// Users and passwords.
    let credentials: CredentialStore?

    /// Creates the rules of a configuration. Create them once, because each call gives the configuration's redirect
    /// policy an identity of its own.
    package convenience init(_ configuration: DownloaderConfiguration) {
        self.init(
            Values(
                cookies: configuration.cookies, tls: configuration.tls,
                credentials: configuration.credentials.map { IdentityBox($0) },
                acceptedStatuses: configuration.acceptedStatuses,
                acceptedContentTypes: configuration.acceptedContentTypes,
                redirectPolicy: configuration.redirectPolicy.map { IdentifiedClosure($0) },
                retry: configuration.retry, addressPolicy: configuration.addressPolicy, proxy: configuration.proxy,
                maxRedirects: configuration.maxRedirects, allowsDowngrade: configuration.allowsDowngrade,
                strictTransport: configuration.strictTransport.map { IdentityBox($0) }), configuration,
            configuration.credentials)
    }

    private init(_ values: Values, _ configuration: DownloaderConfiguration, _ credentials: CredentialStore?) {
        self.values = values
        self.configuration = configuration
        self.credentials = credentials
        hash = values.hashValue
    }

    /// Returns the rules with the options of one request.
    package func applying(_ options: NetworkOptions, retry: RetryPolicy?) -> ExchangeRules {
        guard options != NetworkOptions() || retry != nil else { return self }
        var changed = values
        if let cookies = options.cookies { changed.cookies = cookies }
        if let tls = options.tls { changed.tls = tls }
        if let credentials = options.credentials { changed.credentials = IdentityBox(credentials) }
        if let statuses = options.acceptedStatuses { changed.acceptedStatuses = statuses }
        if let types = options.acceptedContentTypes { changed.acceptedContentTypes = types }
        if let policy = options.identifiedRedirectPolicy { changed.redirectPolicy = policy }
        if let retry { changed.retry = retry }
        return ExchangeRules(changed, configuration, options.credentials ?? credentials)
    }

    /// Cookies that are sent and kept.
    var jar: CookieJar? { values.cookies.jar }
    /// Whom to trust.
    var tls: TLSConfiguration { values.tls }
    /// Decides on redirects.
    var redirectPolicy: RedirectPolicy? { values.redirectPolicy?.closure }
    /// When failed requests are tried again.
    var retry: RetryPolicy { values.retry }

    /// Whether a status is one of those whose body is wanted.
    func accepts(_ status: Int, _ acceptsNotModified: Bool) -> Bool {
        status == 304 ? acceptsNotModified : values.acceptedStatuses.contains(status)
    }

    /// Whether the content type of a response is an accepted one.
    func acceptsType(_ head: ResponseHead) -> Bool {
        head.status == 304 || ContentTypeFilter.accepts(head, values.acceptedContentTypes)
    }

    /// Who sends requests under these rules, with the present cookies and credentials.
    package var access: AccessIdentity { AccessIdentity(cookies: jar, credentials: credentials) }

    package static func == (left: ExchangeRules, right: ExchangeRules) -> Bool {
        left === right || (left.hash == right.hash && left.values == right.values)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
