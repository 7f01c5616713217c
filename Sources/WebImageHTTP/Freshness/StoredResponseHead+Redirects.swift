// SPDX-License-Identifier: MIT

import Foundation

/// The freshness of redirects whose final response is stored under the first URL (RFC 9111 4.2, RFC 9110 15.4).
///
/// Such a response is fresh only while all its redirects are fresh. After that, the first URL may lead to another
/// resource.
extension StoredResponseHead {
    /// The header field that stores the freshness lifetime of the redirects. A header field of this name from a server
    /// is never stored.
    static let redirectHeader = "x-webimage-redirect-lifetime"

    /// The freshness lifetime of the redirects in seconds after ``responseTime``, or `nil` if it's unlimited.
    package var redirectLifetime: Double? {
        head.headers[Self.redirectHeader].map { Double(ListHeaderParser.deltaSeconds($0) ?? 0) }
    }

    /// Limits the freshness of the response to that of the redirects that led to it.
    ///
    /// A redirect without explicit freshness has a lifetime of 0. Permanent redirects (301 and 308) without explicit
    /// freshness don't limit the response.
    package mutating func limitFreshness(byRedirects redirects: [StoredResponseHead]) {
        let lifetimes = redirects.compactMap { $0.lifetimeAsRedirect(now: responseTime) }
        head.headers[Self.redirectHeader] = lifetimes.min().map { String(Int($0)) }
    }

    /// Copies the redirect limit of a 304 response to this response.
    package mutating func limitFreshness(likeNotModified notModified: StoredResponseHead) {
        head.headers[Self.redirectHeader] = notModified.head.headers[Self.redirectHeader]
    }

    /// Returns the remaining lifetime of this redirect in seconds, or `nil` if it's unlimited.
    private func lifetimeAsRedirect(now: Date) -> Double? {
        guard Self.isStorable(method: "GET", request: HTTPHeaderFields(), response: head) || head.isPermanentRedirect,
            !cacheControl.noStore, !cacheControl.noCache
        else { return 0 }
        let freshness = freshness(now: now)
        return freshness.source == .none && head.isPermanentRedirect ? nil : freshness.remaining
    }

    /// Returns whether the redirects have expired, even if the response itself is still fresh or may be served stale.
    func isOutlivingRedirects(now: Date) -> Bool {
        redirectLifetime.map { age(now: now) >= age(now: responseTime) + $0 } ?? false
    }
}

extension HTTPResponseHead {
    fileprivate var isPermanentRedirect: Bool { statusCode == 301 || statusCode == 308 }
}
