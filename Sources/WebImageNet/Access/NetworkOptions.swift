// SPDX-License-Identifier: MIT

/// The network options of one request that override those of the downloader or the client.
///
/// An option that is `nil` has the value of the ``ImageDownloader/Configuration``. Cookie jars and credential stores
/// are equal if they're the same object. A redirect policy equals only its copies.
///
/// Options that are set are part of the key of cached images, so requests with different options never share an image.
public struct NetworkOptions: Sendable, Hashable {
    /// The cookies to send and store.
    ///
    /// ``CookiePolicy/disabled`` sends no cookies. `nil` means the cookies of the downloader.
    public var cookieJar: CookiePolicy?
    /// The trusted authorities, pinned keys, and client certificates.
    public var tls: TLSOptions?
    /// The user names and passwords.
    public var credentials: CredentialStore?
    /// The status codes of responses whose body is the image.
    public var acceptableStatusCodes: StatusFilter?
    /// The accepted content types, such as `image/*`.
    ///
    /// An empty array accepts all types.
    public var acceptableContentTypes: [String]?
    /// The policy for redirects.
    ///
    /// It runs on the network thread, so it must be quick and must not block.
    package var redirectPolicy: RedirectPolicy? {
        get { identifiedRedirectPolicy?.closure }
        set { identifiedRedirectPolicy = newValue.map { IdentifiedClosure($0) } }
    }
    private(set) var identifiedRedirectPolicy: IdentifiedClosure<RedirectPolicy>?

    /// Creates options.
    ///
    /// An option that is `nil` has the value of the downloader.
    public init(
        cookieJar: CookiePolicy? = nil, tls: TLSOptions? = nil, credentials: CredentialStore? = nil,
        acceptableStatusCodes: StatusFilter? = nil, acceptableContentTypes: [String]? = nil
    ) {
        self.cookieJar = cookieJar
        self.tls = tls
        self.credentials = credentials
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
    }

    /// A Boolean value that indicates whether no option is set. Each memory cache lookup reads it, so it must be fast.
    var hasNoOption: Bool {
        cookieJar == nil && tls == nil && credentials == nil && acceptableStatusCodes == nil
            && acceptableContentTypes == nil
            && identifiedRedirectPolicy == nil
    }

    /// Returns whether two values have the same options.
    public static func == (left: NetworkOptions, right: NetworkOptions) -> Bool {
        left.credentials === right.credentials && left.cookieJar == right.cookieJar && left.tls == right.tls
            && left.acceptableStatusCodes == right.acceptableStatusCodes
            && left.acceptableContentTypes == right.acceptableContentTypes
            && left.identifiedRedirectPolicy == right.identifiedRedirectPolicy
    }

    /// Hashes the options.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(credentials.map { ObjectIdentifier($0) })
        hasher.combine(cookieJar)
        hasher.combine(tls)
        hasher.combine(acceptableStatusCodes)
        hasher.combine(acceptableContentTypes)
        hasher.combine(identifiedRedirectPolicy)
    }
}

/// A policy that determines which cookies a load sends and stores.
///
/// Policies with a jar are equal if it's the same jar.
public enum CookiePolicy: Sendable, Hashable {
    /// No cookies are sent or stored.
    case disabled
    /// The cookies of a specific jar.
    case jar(CookieJar)
    /// The cookies of ``CookieJar/shared``.
    case shared

    /// The cookie jar, or `nil` if cookies are disabled.
    package var jar: CookieJar? {
        switch self {
        case .disabled: nil
        case .jar(let jar): jar
        case .shared: .shared
        }
    }

    /// Returns whether two policies use the same jar or both use none.
    public static func == (left: CookiePolicy, right: CookiePolicy) -> Bool { left.jar === right.jar }

    /// Hashes the identity of the jar.
    public func hash(into hasher: inout Hasher) { hasher.combine(jar.map { ObjectIdentifier($0) }) }
}
