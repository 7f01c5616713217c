// SPDX-License-Identifier: MIT

/// How one request deals with the network where that differs from the downloader. What is nil is as the
/// ``DownloaderConfiguration`` says.
public struct NetworkOptions: Sendable {
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
    public var redirectPolicy: RedirectPolicy?

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
}

/// Which cookies a load sends and keeps.
public enum CookiePolicy: Sendable {
    /// None.
    case none
    /// Those of a jar.
    case jar(CookieJar)
    /// Those of ``CookieJar/shared``.
    case shared

    /// The jar; nil for none.
    var jar: CookieJar? {
        switch self {
        case .none: nil
        case .jar(let jar): jar
        case .shared: .shared
        }
    }
}
