// SPDX-License-Identifier: MIT

import Foundation

/// The action of a private cache for a request (RFC 9111 4), given the stored response that `Vary` selects.
package enum CacheAction: Sendable, Hashable {
    /// A step that uses the stored response.
    case use
    /// A step that uses the stored response although it's stale. If `revalidatesInBackground` is `true`, the cache also
    /// revalidates it in the background.
    case useStale(revalidatesInBackground: Bool)
    /// A step that revalidates the stored response. The header fields are those of the request and the conditions.
    case revalidate(HTTPHeaderFields)
    /// A step that sends a request with the given header fields. A 304 response refers to the caller's own conditions.
    case fetch(HTTPHeaderFields)
    /// A step that fails with status 504, because the caller accepts only a cached response and no suitable one is
    /// stored (RFC 9111 5.2.1.7).
    case gatewayTimeout

    /// Returns the action for the request of the caller. `stored` is the newest stored response that matches it, or
    /// `nil` if there is none.
    package static func make(
        _ request: RequestHead, mode: HTTPCacheMode = .default, stored: StoredResponseHead?,
        policy: HTTPCachePolicy = HTTPCachePolicy(), now: Date
    ) -> CacheAction {
        let control = CacheControl(request.headers)
        guard request.mayUseStored, mode != .noStore, mode != .reload, !control.noStore else {
            return .fetch(mode.sent(request.headers))
        }
        let wantsStoredOnly = mode == .onlyIfCached || control.onlyIfCached
        guard let stored, stored.canServe(request) else {
            return wantsStoredOnly ? .gatewayTimeout : .fetch(mode.sent(request.headers))
        }
        let freshness = stored.freshness(now: now, policy: policy)
        switch mode {
        case .forceCache, .onlyIfCached:
            return freshness.isFresh ? .use : .useStale(revalidatesInBackground: false)
        case .noCache:
            // A fresh response with `immutable` isn't revalidated, even if the user reloads (RFC 8246 2).
            let needsNothing = freshness.isFresh && stored.cacheControl.immutable
            return needsNothing ? .use : confirmation(of: stored, for: request, mode: mode)
        case .default, .noStore, .reload: break
        }
        switch stored.decision(for: request.headers, now: now, policy: policy) {
        case .fresh: return .use
        case .stale(let staleness) where staleness.isAccepted: return .useStale(revalidatesInBackground: false)
        // A request with `only-if-cached` must not cause contact with the server, also not in the background.
        case .stale(let staleness) where staleness.mayServeWhileRevalidating && !wantsStoredOnly:
            return .useStale(revalidatesInBackground: true)
        case .stale, .mustRevalidate:
            return wantsStoredOnly ? .gatewayTimeout : confirmation(of: stored, for: request, mode: mode)
        }
    }

    /// Returns the step that revalidates `stored`.
    ///
    /// HEAD requests and requests with ranges or with the caller's own conditions are sent without additional
    /// conditions, because their responses are for the caller.
    package static func confirmation(
        of stored: StoredResponseHead, for request: RequestHead, mode: HTTPCacheMode = .default
    ) -> CacheAction {
        var fields = mode.sent(request.headers)
        let conditions = stored.conditionalHeaders()
        guard request.method == "GET", !request.isConditional, request.range == nil, !conditions.lines.isEmpty else {
            return .fetch(fields)
        }
        for line in conditions.lines { fields.append(name: line.name, value: line.value) }
        return .revalidate(fields)
    }
}

extension HTTPCacheMode {
    /// Returns `fields` with the cache directives of this mode, so that intermediate caches behave like this one
    /// (Fetch 4.5).
    ///
    /// Directives of the caller take precedence.
    package func sent(_ fields: HTTPHeaderFields) -> HTTPHeaderFields {
        guard fields["Cache-Control"] == nil else { return fields }
        var fields = fields
        switch self {
        case .noCache: fields.append(name: "Cache-Control", value: "max-age=0")
        case .noStore, .reload:
            if fields["Pragma"] == nil { fields.append(name: "Pragma", value: "no-cache") }
            fields.append(name: "Cache-Control", value: "no-cache")
        case .default, .forceCache, .onlyIfCached: break
        }
        return fields
    }
}

extension StoredResponseHead {
    /// Returns whether the stored response can serve `request` at all.
    ///
    /// Requests with `If-Match` or `If-Unmodified-Since` and requests for multiple ranges need the server. So do
    /// ranges of a response that has a content coding or a status other than 200. A stored part serves requests for
    /// bytes that it contains.
    package func canServe(_ request: RequestHead) -> Bool {
        guard !request.needsOrigin else { return false }
        guard head.statusCode != 206 else { return PartialResponse(self)?.offsets(for: request) != nil }
        guard let range = request.range else { return true }
        return ByteRange(range) != nil && head.statusCode == 200 && !isCoded
    }

    /// Whether the response has a content coding. Byte ranges then refer to the encoded body, but the cache stores the
    /// decoded one.
    var isCoded: Bool {
        (head.headers.combined("Content-Encoding").map(ListHeaderParser.members) ?? []).contains {
            $0.lowercased() != "identity"
        }
    }
}
