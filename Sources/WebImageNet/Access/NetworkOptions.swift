// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency

/// The network options of one request that override those of the downloader or the client.
///
/// An option that is `nil` has the value of the ``ImageDownloader/Configuration``. Cookie jars and credential stores
/// are equal if they're the same object.
///
/// Except for timeouts, retries, and alternative URLs, options that are set are part of the key of cached images, so
/// requests with different options never share an image.
public struct NetworkOptions: Sendable, Hashable {
    /// The values of all options.
    private struct Values: Sendable, Hashable {
        var timeout: Duration?
        var connectTimeout: Duration?
        var idleTimeout: Duration?
        var retry: RetryPolicy?
        var alternativeURLs: [URL] = []
        var cookieJar: IdentityBox<CookieJar>?
        var tls: TLSOptions?
        var credentials: IdentityBox<CredentialStore>?
        var awsSignature: AWSSignature?
        var acceptableStatusCodes: Set<Int>?
        var acceptableContentTypes: Set<String>?
        var redirectPolicy: IdentifiedClosure<RedirectPolicy>?

        var hasNoOption: Bool {
            cookieJar == nil && tls == nil && credentials == nil && awsSignature == nil
                && acceptableStatusCodes == nil && acceptableContentTypes == nil && redirectPolicy == nil
        }

        var isDefault: Bool {
            hasNoOption && timeout == nil && connectTimeout == nil && idleTimeout == nil && retry == nil
                && alternativeURLs.isEmpty
        }
    }

    /// The storage of the values, or `nil` if all options have their default values.
    ///
    /// The values are in an object because every step of a request copies its options, and few requests have any.
    private var storage: CopyOnWrite<Values>?

    /// Creates options with the values of the downloader.
    public init() {}

    private mutating func update(_ change: (inout Values) -> Void) {
        var changed = storage ?? CopyOnWrite(Values())
        // The container must be the only reference to its value. Otherwise, each change copies all options.
        storage = nil
        change(&changed.value)
        if !changed.value.isDefault { storage = changed }
    }

    /// The timeout for the entire load, including redirects but not the time in the queue.
    public var timeout: Duration? {
        get { storage?.value.timeout }
        set { update { $0.timeout = newValue } }
    }

    /// The timeout for establishing the connection, including name resolution and TLS.
    public var connectTimeout: Duration? {
        get { storage?.value.connectTimeout }
        set { update { $0.connectTimeout = newValue } }
    }

    /// The timeout without any received byte, before or during the response.
    public var idleTimeout: Duration? {
        get { storage?.value.idleTimeout }
        set { update { $0.idleTimeout = newValue } }
    }

    /// The policy for retrying a failed load.
    public var retry: RetryPolicy? {
        get { storage?.value.retry }
        set { update { $0.retry = newValue } }
    }

    /// The URLs to try, in order, if the URL of the request finally fails because of the network, a status that isn't
    /// accepted, or a missing file.
    ///
    /// An alternative can have any scheme. The custom loader of the request loads it if it can, and otherwise the loader
    /// of the manager that was added last and can load it, so a file or a data URL can be the last resort. Alternatives
    /// that no loader can load or whose scheme isn't allowed are skipped. An ``ImageDownloader`` without a manager tries
    /// only `https` and `http`.
    ///
    /// The cache key remains that of the URL of the request. Header fields that might contain secrets aren't sent to
    /// alternatives with another origin. An image of an alternative without an HTTP response, such as a file, isn't
    /// cached, so the next request tries its URL again. The default is an empty array.
    public var alternativeURLs: [URL] {
        get { storage?.value.alternativeURLs ?? [] }
        set { update { $0.alternativeURLs = newValue } }
    }

    /// The cookies to send and store.
    ///
    /// ``CookieJar/disabled`` sends no cookies. `nil` means the cookies of the downloader.
    public var cookieJar: CookieJar? {
        get { storage?.value.cookieJar?.object }
        set { update { $0.cookieJar = newValue.map { IdentityBox($0) } } }
    }

    /// The trusted authorities, pinned keys, and client certificates.
    public var tls: TLSOptions? {
        get { storage?.value.tls }
        set { update { $0.tls = newValue } }
    }

    /// The user names and passwords.
    public var credentials: CredentialStore? {
        get { storage?.value.credentials?.object }
        set { update { $0.credentials = newValue.map { IdentityBox($0) } } }
    }

    /// The credentials with which requests to S3-compatible storage are signed, or `nil` for unsigned requests.
    ///
    /// A request with an `Authorization` header field isn't signed.
    public var awsSignature: AWSSignature? {
        get { storage?.value.awsSignature }
        set { update { $0.awsSignature = newValue } }
    }

    /// The status codes of responses whose body is the image.
    public var acceptableStatusCodes: Set<Int>? {
        get { storage?.value.acceptableStatusCodes }
        set { update { $0.acceptableStatusCodes = newValue } }
    }

    /// The accepted content types, such as `image/*`.
    ///
    /// An empty set accepts all types.
    public var acceptableContentTypes: Set<String>? {
        get { storage?.value.acceptableContentTypes }
        set { update { $0.acceptableContentTypes = newValue } }
    }

    /// The policy for redirects.
    ///
    /// It runs on the network thread, so it must be quick and must not block.
    package var redirectPolicy: RedirectPolicy? {
        get { identifiedRedirectPolicy?.closure }
        set { update { $0.redirectPolicy = newValue.map { IdentifiedClosure($0) } } }
    }

    var identifiedRedirectPolicy: IdentifiedClosure<RedirectPolicy>? { storage?.value.redirectPolicy }

    /// Each memory cache lookup reads this property, so it must be fast. Timeouts, retries, and alternatives don't
    /// count.
    var hasNoOption: Bool { storage?.value.hasNoOption ?? true }

    /// Returns whether two values have the same options.
    public static func == (left: NetworkOptions, right: NetworkOptions) -> Bool {
        guard let ours = left.storage, let theirs = right.storage else {
            return left.storage == nil && right.storage == nil
        }
        return ours.identity == theirs.identity || ours.value == theirs.value
    }

    /// Hashes the options.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage?.value) }
}
