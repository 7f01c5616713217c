// SPDX-License-Identifier: MIT

import Foundation

/// The use of a response without revalidation although it isn't known to be fresh.
///
/// A browser does the same within a document: its list of available images serves each later element with the same URL
/// (HTML Standard, 4.8.4.2), and a preloaded response serves the first element that needs it (HTML Standard, 4.6.8).
extension StoredResponseHead {
    /// Whether the response leaves its freshness open, so a cache that has just received or revalidated it may decide
    /// for how long it uses the response.
    ///
    /// A response with an explicit lifetime (`max-age`, `Expires`), with `no-store`, `no-cache`, or `must-revalidate`,
    /// with `Vary: *`, or with `Pragma: no-cache` but without `Cache-Control` decides itself. So does a lifetime that
    /// `policy` sets. `s-maxage` and `proxy-revalidate` have no effect because they concern shared caches only (RFC
    /// 9111 5.2.2.8, 5.2.2.10).
    package func leavesFreshnessOpen(now: Date, policy: HTTPCachePolicy = HTTPCachePolicy()) -> Bool {
        let control = cacheControl
        guard !control.noStore, !control.noCache, !control.mustRevalidate,
            !(head.headers["Cache-Control"] == nil && Self.hasPragma(head.headers)),
            Freshness.heuristicStatuses.contains(head.statusCode) || control.isPublic,
            !selectingNames.contains("*"), !isOutlivingRedirects(now: now)
        else { return false }
        switch freshness(now: now, policy: policy).source {
        case .none, .heuristic: return true
        case .maxAge, .expires, .policy: return false
        }
    }

    /// Returns whether a request accepts this response although it isn't known to be fresh.
    ///
    /// Requests with conditions, ranges, `no-store`, `no-cache`, `min-fresh`, or a `max-age` that the response exceeds
    /// don't accept it.
    package func isAcceptedWithoutFreshness(by request: RequestHead, now: Date) -> Bool {
        let wanted = CacheControl(request.headers)
        guard request.mayUseStored, canServe(request), !request.isConditional, request.range == nil,
            !wanted.noStore, !wanted.noCache, wanted.minFresh == nil,
            !(request.headers["Cache-Control"] == nil && Self.hasPragma(request.headers))
        else { return false }
        return wanted.maxAge.map { age(now: now) <= Double($0) } ?? true
    }
}
