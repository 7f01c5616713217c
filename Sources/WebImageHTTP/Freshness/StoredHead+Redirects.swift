// SPDX-License-Identifier: MIT

import Foundation

/// Redirects on the way to a response that is stored under the first URL (RFC 9111 4.2, RFC 9110 15.4).
///
/// Such a response is fresh only as long as all redirects are. After that, the first URL may lead elsewhere.
extension StoredHead {
    /// The header field that keeps the lifetime of the redirects. A field of this name from a server is never stored.
    static let redirectField = "x-webimage-redirect-lifetime"

    /// Seconds after ``responseTime`` for which the redirects hold, or `nil` if nothing limits them.
    package var redirectLifetime: Double? {
        head.fields[Self.redirectField].map { Double(FieldList.deltaSeconds($0) ?? 0) }
    }

    /// Limits the freshness by the redirects that led to the response.
    ///
    /// A redirect without explicit freshness holds for no time at all, except for permanent ones (301 and 308), which
    /// hold until the response is stale.
    package mutating func limitFreshness(byRedirects redirects: [StoredHead]) {
        let lifetimes = redirects.compactMap { $0.lifetimeAsRedirect(now: responseTime) }
        head.fields[Self.redirectField] = lifetimes.min().map { String(Int($0)) }
    }

    /// Takes the limit by redirects that led to a 304.
    package mutating func limitFreshness(likeNotModified notModified: StoredHead) {
        head.fields[Self.redirectField] = notModified.head.fields[Self.redirectField]
    }

    /// Seconds from `now` for which this redirect holds, or `nil` for an unlimited time.
    private func lifetimeAsRedirect(now: Date) -> Double? {
        guard Self.isStorable(method: "GET", request: HTTPFields(), response: head) || head.isPermanentRedirect,
            !cacheControl.noStore, !cacheControl.noCache
        else { return 0 }
        let freshness = freshness(now: now)
        return freshness.source == .none && head.isPermanentRedirect ? nil : freshness.remaining
    }

    /// Whether the redirects hold no longer, although the response itself would be fresh or might be served stale.
    func isOutlivingRedirects(now: Date) -> Bool {
        redirectLifetime.map { age(now: now) >= age(now: responseTime) + $0 } ?? false
    }
}

extension ResponseHead {
    fileprivate var isPermanentRedirect: Bool { status == 301 || status == 308 }
}
