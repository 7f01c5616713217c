// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// Cookies of any number of hosts (RFC 6265), at most 50 per domain and 3000 in all; those that were not used for
/// longest leave first. Lives in memory; ``CookieJar/write(to:)`` and ``CookieJar/read(from:)`` keep it in a file.
/// Thread-safe.
public final class CookieJar: Sendable {
    /// The jar of ``CookiePolicy/shared``.
    public static let shared = CookieJar()

    private let store = Lock(CookieShelf())
    private let parser: CookieParser
    private let clock: @Sendable () -> Date

    /// Creates an empty jar.
    ///
    /// - Parameters:
    ///   - clock: tells the time. Default the system's.
    ///   - isPublicSuffix: whether anybody may have a host below a name; cookies for such a name are refused.
    ///     Default: the system's list of public suffixes where libpsl is there, and names of one label.
    public init(
        clock: @escaping @Sendable () -> Date = { Date() },
        isPublicSuffix: @escaping @Sendable (String) -> Bool = PublicSuffix.contains
    ) {
        self.clock = clock
        parser = CookieParser(isPublicSuffix: isPublicSuffix)
    }

    /// All cookies that have not ended, by domain, path and name.
    public var cookies: [Cookie] {
        let now = clock()
        return store.withLock { $0.all(now: now) }
    }

    /// Puts a cookie in, in place of one with the same name, domain and path.
    public func set(_ cookie: Cookie) {
        let now = clock()
        store.withLock { $0.insert(cookie, now: now) }
    }

    /// Removes all cookies.
    public func removeAll() { store.withLock { $0.removeAll() } }

    /// A number that changes whenever a cookie is added, changes its value, or is removed.
    package var generation: UInt64 { store.withLock { $0.generation } }

    /// The Cookie header field for `url`, as ``field(for:)`` returns it, without counting it as a use.
    func peek(for url: URL) -> String? {
        var shelf = store.withLock { $0 }
        return field(for: url, from: &shelf)
    }

    /// Returns the value of the `Cookie` header field for a URL, or `nil` if the jar has no cookie for it.
    public func field(for url: URL) -> String? { store.withLock { field(for: url, from: &$0) } }

    private func field(for url: URL, from shelf: inout CookieShelf) -> String? {
        guard let host = CookieParser.host(of: url) else { return nil }
        let path = url.path(percentEncoded: true)
        return shelf.field(
            host: host, path: path.isEmpty ? "/" : path, isSecure: url.scheme?.lowercased() == "https", now: clock())
    }

    /// Takes the Set-Cookie fields of an answer of `url`.
    public func take(_ fields: HTTPFields, from url: URL) {
        let now = clock()
        let isSecure = url.scheme?.lowercased() == "https"
        let cookies = fields.values(of: "Set-Cookie").compactMap { parser.cookie($0, from: url, now: now) }
        guard !cookies.isEmpty else { return }
        store.withLock { store in
            for cookie in cookies where isSecure || !store.shadowsSecure(cookie) { store.insert(cookie, now: now) }
        }
    }
}
