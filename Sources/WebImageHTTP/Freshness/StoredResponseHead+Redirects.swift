// SPDX-License-Identifier: MIT

import Foundation

/// The freshness of redirects whose final response is stored under the first URL (RFC 9111 4.2, RFC 9110 15.4).
///
/// Such a response is fresh only while all its redirects are fresh. After that, the first URL may lead to another
/// resource.
extension StoredResponseHead {
    /// The header field that contains ``redirectLifetime`` in files. A header field of this name from a server is never
    /// stored.
    static let redirectHeader = "x-webimage-redirect-lifetime"

    /// The header fields of the response for a file, in which an additional header field contains
    /// ``redirectLifetime``.
    package var headersForFile: HTTPHeaderFields {
        var headers = head.headers
        headers[Self.redirectHeader] = redirectLifetime.map { String(Int($0)) }
        return headers
    }

    /// Sets ``redirectLifetime`` from its header field and removes the header field.
    package mutating func extractRedirectLifetime() {
        guard let value = head.headers[Self.redirectHeader] else { return }
        redirectLifetime = Double(ListHeaderParser.deltaSeconds(value) ?? 0)
        head.headers[Self.redirectHeader] = nil
    }

    /// Limits the freshness of the response to that of the redirects that led to it.
    ///
    /// A redirect without explicit freshness has a lifetime of 0. Permanent redirects (301 and 308) without explicit
    /// freshness don't limit the response.
    package mutating func limitFreshness(byRedirects redirects: [StoredResponseHead]) {
        let lifetimes = redirects.compactMap { $0.lifetimeAsRedirect(now: responseTime) }
        redirectLifetime = lifetimes.min().map(Self.wholeSeconds)
    }

    /// Returns a lifetime as a whole number of seconds from 0 to ``CacheControl/longest``.
    static func wholeSeconds(_ lifetime: Double) -> Double {
        lifetime.isNaN ? 0 : min(max(0, lifetime.rounded(.down)), Double(CacheControl.longest))
    }

    /// Copies the redirect limit of a 304 response to this response.
    package mutating func limitFreshness(likeNotModified notModified: StoredResponseHead) {
        redirectLifetime = notModified.redirectLifetime
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
