// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// A thread-safe container for the cookies of any number of hosts (RFC 6265).
///
/// A jar contains at most 50 cookies per domain and 3,000 in total. Beyond these limits, it evicts the least recently
/// used cookies. The cookies are in memory. To save them in a file, use ``CookieJar/save(to:)`` and
/// ``CookieJar/load(from:)``.
public final class CookieJar: Sendable {
    /// A jar for the whole process.
    public static let shared = CookieJar()
    /// A jar that sends no cookies and stores none.
    public static let disabled = CookieJar(isDisabled: true, clock: { Date() }, isPublicSuffix: PublicSuffix.contains)

    private let store = Lock(CookieStorage())
    private let parser: CookieParser
    private let clock: @Sendable () -> Date
    private let isDisabled: Bool

    /// Creates an empty jar.
    ///
    /// The jar rejects cookies for public suffixes such as `co.uk`. It uses the system's list if libpsl is available.
    /// Otherwise, it treats names that resemble public suffixes as such, such as all names of two labels in which the
    /// last label has two letters and the first at most three. Names of one label are always public suffixes.
    public convenience init() { self.init(clock: { Date() }) }

    /// Creates an empty jar, which rejects cookies for public suffixes.
    package convenience init(
        clock: @escaping @Sendable () -> Date,
        isPublicSuffix: @escaping @Sendable (String) -> Bool = PublicSuffix.contains
    ) {
        self.init(isDisabled: false, clock: clock, isPublicSuffix: isPublicSuffix)
    }

    private init(
        isDisabled: Bool, clock: @escaping @Sendable () -> Date,
        isPublicSuffix: @escaping @Sendable (String) -> Bool
    ) {
        self.isDisabled = isDisabled
        self.clock = clock
        parser = CookieParser(isPublicSuffix: isPublicSuffix)
    }

    /// This jar, or `nil` for ``disabled``.
    package var ifEnabled: CookieJar? { isDisabled ? nil : self }

    /// All unexpired cookies, sorted by domain, path, and name.
    package var cookies: [Cookie] {
        let now = clock()
        return store.withLock { $0.all(now: now) }
    }

    /// Adds a cookie as a server does, with the value of a `Set-Cookie` header field.
    ///
    /// The cookie replaces the cookie with the same name, domain, and path. An invalid cookie is ignored, and so is a
    /// cookie that the server of `url` may not set.
    ///
    /// - Parameters:
    ///   - field: The value of the header field, such as `id=1; Path=/; Max-Age=3600`.
    ///   - url: The URL of the response.
    public func setCookie(_ field: String, for url: URL) {
        var headers = HTTPHeaderFields()
        headers.append(name: "Set-Cookie", value: field)
        receive(headers, from: url)
    }

    /// Adds a cookie and replaces the cookie with the same name, domain, and path.
    package func set(_ cookie: Cookie) {
        guard !isDisabled else { return }
        let now = clock()
        store.withLock { $0.insert(cookie, now: now) }
    }

    /// Removes all cookies.
    public func removeAll() { store.withLock { $0.removeAll() } }

    /// A number that changes when a cookie is added, changes its value, or is removed.
    package var generation: UInt64 { store.withLock { $0.generation } }

    func peek(for url: URL) -> String? {
        // Use a copy, because a lookup changes the order of the eviction.
        var shelf = store.withLock { $0 }
        return cookies(for: url, from: &shelf)
    }

    /// Returns the value of the `Cookie` header field for a URL, or `nil` if the jar has no cookie for it.
    public func cookies(for url: URL) -> String? { store.withLock { cookies(for: url, from: &$0) } }

    private func cookies(for url: URL, from shelf: inout CookieStorage) -> String? {
        guard let host = HostName(of: url)?.text else { return nil }
        let path = url.path(percentEncoded: true)
        return shelf.header(
            host: host, path: path.isEmpty ? "/" : path, isSecure: url.scheme?.lowercased() == "https", now: clock())
    }

    /// Adds the cookies in the `Set-Cookie` header fields of a response from a URL.
    package func receive(_ fields: HTTPHeaderFields, from url: URL) {
        guard !isDisabled else { return }
        let now = clock()
        let isSecure = url.scheme?.lowercased() == "https"
        // The check of public suffixes may load a library, so parse the cookies before locking.
        let cookies = fields.values(for: "Set-Cookie").compactMap { parser.cookie($0, from: url, now: now) }
        guard !cookies.isEmpty else { return }
        store.withLock { store in
            for cookie in cookies where isSecure || !store.shadowsSecure(cookie) { store.insert(cookie, now: now) }
        }
    }
}
