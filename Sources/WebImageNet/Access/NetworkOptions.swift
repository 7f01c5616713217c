// SPDX-License-Identifier: MIT

/// How one request deals with the network where that differs from the downloader. What is nil is as the
/// ``DownloaderConfiguration`` says.
///
/// Cookie jars and credential stores are equal if they're the same object. A redirect policy equals only its copies.
public struct NetworkOptions: Sendable, Hashable {
    /// Cookies that are sent and kept.
    public var cookies: CookiePolicy?
    /// Whom to trust, and who we are.
    public var tls: TLSConfiguration?
    /// Users and passwords.
    public var credentials: CredentialStore?
    /// Statuses whose body is the picture.
    public var acceptedStatuses: StatusFilter?
    /// Content types that are accepted; empty for all of them.
    public var acceptedContentTypes: [String]?
    /// Decides on redirects.
    public var redirectPolicy: RedirectPolicy? {
        get { identifiedRedirectPolicy?.closure }
        set { identifiedRedirectPolicy = newValue.map { IdentifiedClosure($0) } }
    }
    private(set) var identifiedRedirectPolicy: IdentifiedClosure<RedirectPolicy>?

    /// Everything as the downloader has it.
    public init(
        cookies: CookiePolicy? = nil, tls: TLSConfiguration? = nil, credentials: CredentialStore? = nil,
        acceptedStatuses: StatusFilter? = nil, acceptedContentTypes: [String]? = nil,
        redirectPolicy: RedirectPolicy? = nil
    ) {
        self.cookies = cookies
        self.tls = tls
        self.credentials = credentials
        self.acceptedStatuses = acceptedStatuses
        self.acceptedContentTypes = acceptedContentTypes
        self.redirectPolicy = redirectPolicy
    }

    /// Returns whether two values have the same options.
    public static func == (left: NetworkOptions, right: NetworkOptions) -> Bool {
        left.credentials === right.credentials && left.cookies == right.cookies && left.tls == right.tls
            && left.acceptedStatuses == right.acceptedStatuses
            && left.acceptedContentTypes == right.acceptedContentTypes
            && left.identifiedRedirectPolicy == right.identifiedRedirectPolicy
    }

    /// Hashes the options.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(credentials.map { ObjectIdentifier($0) })
        hasher.combine(cookies)
        hasher.combine(tls)
        hasher.combine(acceptedStatuses)
        hasher.combine(acceptedContentTypes)
        hasher.combine(identifiedRedirectPolicy)
    }
}

/// Which cookies a load sends and keeps. Policies with a jar are equal if it's the same jar.
public enum CookiePolicy: Sendable, Hashable {
    /// Cookies are neither sent nor kept.
    case disabled
    /// Those of a jar.
    case jar(CookieJar)
    /// Those of ``CookieJar/shared``.
    case shared

    /// The jar, or `nil` if cookies are disabled.
    package var jar: CookieJar? {
        switch self {
        case .disabled: nil
        case .jar(let jar): jar
        case .shared: .shared
        }
    }

    /// Returns whether two policies use the same jar, or none.
    public static func == (left: CookiePolicy, right: CookiePolicy) -> Bool { left.jar === right.jar }

    /// Hashes the identity of the jar.
    public func hash(into hasher: inout Hasher) { hasher.combine(jar.map { ObjectIdentifier($0) }) }
}
