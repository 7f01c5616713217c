// SPDX-License-Identifier: MIT

import Foundation

/// The network options of one request that override those of the downloader or the client.
///
/// An option that is `nil` has the value of the ``ImageDownloader/Configuration``. Cookie jars and credential stores
/// are equal if they're the same object.
///
/// Except for timeouts, retries, and alternative URLs, options that are set are part of the key of cached images, so
/// requests with different options never share an image.
public struct NetworkOptions: Sendable, Hashable {
    /// The timeout for the entire load, including redirects but not the time in the queue.
    public var timeout: Duration?
    /// The timeout for establishing the connection, including name resolution and TLS.
    public var connectTimeout: Duration?
    /// The timeout without any received byte, before or during the response.
    public var idleTimeout: Duration?
    /// The policy for retrying a failed load.
    public var retry: RetryPolicy?
    /// The URLs to try, in order, if the URL of the request finally fails because of the network or a status that isn't
    /// accepted.
    ///
    /// The cache key remains that of the URL of the request. Header fields that might contain secrets aren't sent to
    /// alternatives with another origin. Alternatives that the loader can't load are skipped. The default is an empty
    /// array.
    public var alternativeURLs: [URL] = []
    /// The cookies to send and store.
    ///
    /// ``CookieJar/disabled`` sends no cookies. `nil` means the cookies of the downloader.
    public var cookieJar: CookieJar?
    /// The trusted authorities, pinned keys, and client certificates.
    public var tls: TLSOptions?
    /// The user names and passwords.
    public var credentials: CredentialStore?
    /// The status codes of responses whose body is the image.
    public var acceptableStatusCodes: Set<Int>?
    /// The accepted content types, such as `image/*`.
    ///
    /// An empty set accepts all types.
    public var acceptableContentTypes: Set<String>?
    /// The policy for redirects.
    ///
    /// It runs on the network thread, so it must be quick and must not block.
    package var redirectPolicy: RedirectPolicy? {
        get { identifiedRedirectPolicy?.closure }
        set { identifiedRedirectPolicy = newValue.map { IdentifiedClosure($0) } }
    }
    private(set) var identifiedRedirectPolicy: IdentifiedClosure<RedirectPolicy>?

    /// Creates options with the values of the downloader.
    public init() {}

    /// A Boolean value that indicates whether no option is set that affects what is sent and accepted.
    ///
    /// Each memory cache lookup reads it, so it must be fast. Timeouts, retries, and alternatives don't count.
    var hasNoOption: Bool {
        cookieJar == nil && tls == nil && credentials == nil && acceptableStatusCodes == nil
            && acceptableContentTypes == nil
            && identifiedRedirectPolicy == nil
    }

    /// Returns whether two values have the same options.
    public static func == (left: NetworkOptions, right: NetworkOptions) -> Bool {
        left.credentials === right.credentials && left.cookieJar === right.cookieJar && left.tls == right.tls
            && left.acceptableStatusCodes == right.acceptableStatusCodes
            && left.acceptableContentTypes == right.acceptableContentTypes
            && left.identifiedRedirectPolicy == right.identifiedRedirectPolicy && left.timeouts == right.timeouts
            && left.retry == right.retry && left.alternativeURLs == right.alternativeURLs
    }

    /// Hashes the options.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(credentials.map { ObjectIdentifier($0) })
        hasher.combine(cookieJar.map { ObjectIdentifier($0) })
        hasher.combine(tls)
        hasher.combine(acceptableStatusCodes)
        hasher.combine(acceptableContentTypes)
        hasher.combine(identifiedRedirectPolicy)
        hasher.combine(timeouts)
        hasher.combine(retry)
        hasher.combine(alternativeURLs)
    }
}
