// SPDX-License-Identifier: MIT

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
    private let credentials: CredentialStore?

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
                strictTransport: configuration.strictTransport.map { IdentityBox($0) }), configuration.credentials)
    }

    private init(_ values: Values, _ credentials: CredentialStore?) {
        self.values = values
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
        return ExchangeRules(changed, options.credentials ?? credentials)
    }

    /// Who sends requests under these rules, with the present cookies and credentials.
    package var access: AccessIdentity { AccessIdentity(cookies: values.cookies.jar, credentials: credentials) }

    package static func == (left: ExchangeRules, right: ExchangeRules) -> Bool {
        left === right || (left.hash == right.hash && left.values == right.values)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
