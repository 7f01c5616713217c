// SPDX-License-Identifier: MIT

import WebImageHTTP
import WebImageStore

/// The rules for requests and responses from a downloader's configuration and a request's options.
///
/// The rules are an object because almost all requests of a downloader share those of its configuration.
package final class ExchangeRules: LoadRules, Hashable {
    private struct Values: Sendable, Hashable {
        /// The cookie jar, or `nil` if cookies are disabled.
        var cookies: IdentityBox<CookieJar>?
        var headers: HTTPHeaderFields
        var tls: TLSOptions
        var credentials: IdentityBox<CredentialStore>?
        var awsSignature: AWSSignature?
        var acceptedStatuses: Set<Int>
        var acceptedContentTypes: Set<String>
        var redirectPolicy: IdentifiedClosure<RedirectPolicy>?
        var retry: RetryPolicy
        var addressPolicy: ImageDownloader.Configuration.AddressPolicy
        var proxy: ImageDownloader.Configuration.Proxy
        var maxRedirects: Int
        var allowsDowngrade: Bool
        var strictTransport: IdentityBox<HSTSStore>?
    }

    /// An object that identifies the configuration, regardless of changed header fields and of the options of requests.
    private final class Origin: Sendable {}

    private let values: Values
    private let origin: Origin
    private let hash: Int
    /// The configuration, without the options of the request.
    let configuration: ImageDownloader.Configuration
    var jar: CookieJar? { values.cookies?.object }
    var credentials: CredentialStore? { values.credentials?.object }

    /// The header fields that are sent for a request without header fields.
    private let plainFields: HTTPHeaderFields
    /// A hash of the header fields that are added to each request and can affect the data, or `nil` if there are none.
    ///
    /// It separates the cache entries of users that applications distinguish by these fields, also if several
    /// applications share a cache directory.
    package let headerIdentity: String?

    /// Creates the rules of a configuration. Create them only once, because each call gives the configuration's
    /// redirect policy a new identity.
    package convenience init(_ configuration: ImageDownloader.Configuration) {
        self.init(
            Values(
                cookies: configuration.cookieJar.ifEnabled.map { IdentityBox($0) },
                headers: configuration.headers, tls: configuration.tls,
                credentials: configuration.credentials.map { IdentityBox($0) },
                acceptedStatuses: configuration.acceptableStatusCodes,
                acceptedContentTypes: configuration.acceptableContentTypes,
                redirectPolicy: configuration.redirectHandler.map { IdentifiedClosure($0) },
                retry: configuration.retry, addressPolicy: configuration.addressPolicy, proxy: configuration.proxy,
                maxRedirects: configuration.maxRedirects, allowsDowngrade: configuration.allowsInsecureRedirects,
                strictTransport: configuration.hsts.map { IdentityBox($0) }), configuration,
            plainFields: configuration.sent(HTTPHeaderFields()), origin: Origin())
    }

    private init(
        _ values: Values, _ configuration: ImageDownloader.Configuration, plainFields: HTTPHeaderFields, origin: Origin
    ) {
        self.values = values
        self.configuration = configuration
        self.plainFields = plainFields
        self.origin = origin
        headerIdentity = Self.identity(of: values.headers)
        hash = values.hashValue
    }

    /// Whether interceptors may change the requests.
    package var hasInterceptors: Bool { !configuration.interceptors.isEmpty }

    /// Whether interceptors or body modifiers may change the bodies of responses.
    package var changesBodies: Bool { hasInterceptors || !configuration.bodyModifiers.isEmpty }

    /// Returns these rules with the options of one request.
    package func applying(_ options: NetworkOptions) -> ExchangeRules {
        guard !options.hasNoOption || options.retry != nil else { return self }
        var changed = values
        if let cookies = options.cookieJar { changed.cookies = cookies.ifEnabled.map { IdentityBox($0) } }
        if let tls = options.tls { changed.tls = tls }
        if let credentials = options.credentials { changed.credentials = IdentityBox(credentials) }
        if let signature = options.awsSignature { changed.awsSignature = signature }
        if let statuses = options.acceptableStatusCodes { changed.acceptedStatuses = statuses }
        if let types = options.acceptableContentTypes { changed.acceptedContentTypes = types }
        if let policy = options.identifiedRedirectPolicy { changed.redirectPolicy = policy }
        if let retry = options.retry { changed.retry = retry }
        return ExchangeRules(changed, configuration, plainFields: plainFields, origin: origin)
    }

    func replacing(headers: HTTPHeaderFields) -> ExchangeRules {
        guard headers != values.headers else { return self }
        var (changed, configuration) = (values, configuration)
        changed.headers = headers
        configuration.headers = headers
        return ExchangeRules(
            changed, configuration, plainFields: configuration.sent(HTTPHeaderFields()), origin: origin)
    }

    /// Returns these rules without the header fields that ``headerIdentity`` contains.
    package func removingHeaderIdentity() -> ExchangeRules {
        replacing(headers: HTTPHeaderFields(values.headers.lines.filter { Self.hasNoEffectOnData($0.name) }))
    }

    private static func hasNoEffectOnData(_ name: String) -> Bool {
        HTTPHeaderFields.namesWithoutEffectOnData.contains(name.lowercased())
    }

    private static func identity(of headers: HTTPHeaderFields) -> String? {
        let names = Set(headers.lines.map { $0.name.lowercased() }).filter { !hasNoEffectOnData($0) }
        guard !names.isEmpty else { return nil }
        return CacheKey(names.sorted().flatMap { [$0, headers.combined($0) ?? ""] }).fileName
    }

    /// Returns whether both rules come from the same configuration object, so that one can replace the other.
    func hasSameOrigin(as other: ExchangeRules) -> Bool { origin === other.origin }

    /// The header fields that are added to each request without a header field of the same name.
    var headers: HTTPHeaderFields { values.headers }

    /// Returns the header fields that are sent for a request with `fields`. The result doesn't include cookies and
    /// credentials that are added later.
    package func sent(_ fields: HTTPHeaderFields) -> HTTPHeaderFields {
        fields.lines.isEmpty ? plainFields : configuration.sent(fields)
    }

    /// The credentials with which requests are signed, or `nil` for unsigned requests.
    var awsSignature: AWSSignature? { values.awsSignature }
    var tls: TLSOptions { values.tls }
    var redirectPolicy: RedirectPolicy? { values.redirectPolicy?.closure }
    /// The policy for retries.
    package var retry: RetryPolicy { values.retry }

    func accepts(_ status: Int, _ acceptsNotModified: Bool) -> Bool {
        status == 304 ? acceptsNotModified : values.acceptedStatuses.contains(status)
    }

    func acceptsType(_ head: HTTPResponseHead) -> Bool {
        head.statusCode == 304 || ContentTypeFilter.accepts(head, values.acceptedContentTypes)
    }

    /// The identity of the sender under these rules, with the current cookies and credentials.
    package var access: AccessIdentity { AccessIdentity(cookies: jar, credentials: credentials) }

    package static func == (left: ExchangeRules, right: ExchangeRules) -> Bool {
        left === right || (left.hash == right.hash && left.values == right.values)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
