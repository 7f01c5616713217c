// SPDX-License-Identifier: MIT

import Foundation

/// What a private cache does with a request (RFC 9111 4), given the stored answer that Vary has selected.
public enum CacheStep: Sendable, Hashable {
    /// The stored answer is given.
    case use
    /// The stored answer is given although it is stale; with `revalidatesBehind` the server is asked meanwhile
    /// whether it still holds.
    case useStale(revalidatesBehind: Bool)
    /// The server is asked whether the stored answer still holds, with these fields (the request's and conditions).
    case revalidate(HTTPFields)
    /// The server is asked, with these fields; a 304 would answer the caller's own conditions.
    case fetch(HTTPFields)
    /// The caller wants a stored answer only, and there is none it accepts (RFC 9111 5.2.1.7).
    case gatewayTimeout

    /// The step for `request`.
    ///
    /// - Parameters:
    ///   - stored: the newest stored answer whose selecting fields match; nil where there is none.
    ///   - now: the present time.
    public static func make(
        _ request: RequestHead, mode: HTTPCacheMode = .default, stored: StoredHead?,
        policy: HTTPCachePolicy = .standard, now: Date
    ) -> CacheStep {
        let control = CacheControl(request.fields)
        guard request.mayUseStored, mode != .noStore, mode != .reload, !control.noStore else {
            return .fetch(mode.sent(request.fields))
        }
        let wantsStoredOnly = mode == .onlyIfCached || control.onlyIfCached
        guard let stored, stored.canAnswer(request) else {
            return wantsStoredOnly ? .gatewayTimeout : .fetch(mode.sent(request.fields))
        }
        let freshness = stored.freshness(now: now, policy: policy)
        switch mode {
        case .forceCache, .onlyIfCached:
            return freshness.isFresh ? .use : .useStale(revalidatesBehind: false)
        case .noCache:
            let needsNothing = freshness.isFresh && stored.cacheControl.immutable
            return needsNothing ? .use : confirmation(of: stored, for: request, mode: mode)
        case .default, .noStore, .reload: break
        }
        switch stored.decision(for: request.fields, now: now, policy: policy) {
        case .fresh: return .use
        case .stale(let staleness) where staleness.isAccepted: return .useStale(revalidatesBehind: false)
        case .stale(let staleness) where staleness.mayServeWhileRevalidating && !wantsStoredOnly:
            return .useStale(revalidatesBehind: true)
        case .stale, .mustRevalidate:
            return wantsStoredOnly ? .gatewayTimeout : confirmation(of: stored, for: request, mode: mode)
        }
    }

    /// How the server is asked about `stored`. Conditions of the caller's own, ranges and HEAD go on as they are: their
    /// answers are the caller's.
    public static func confirmation(
        of stored: StoredHead, for request: RequestHead, mode: HTTPCacheMode = .default
    ) -> CacheStep {
        var fields = mode.sent(request.fields)
        let conditions = stored.conditionalFields()
        guard request.method == "GET", !request.isConditional, request.range == nil, !conditions.lines.isEmpty else {
            return .fetch(fields)
        }
        for line in conditions.lines { fields.append(name: line.name, value: line.value) }
        return .revalidate(fields)
    }
}

extension HTTPCacheMode {
    /// `fields` as they are sent in this mode: caches on the way shall do what this one does (Fetch 4.5). What the
    /// caller says itself stays.
    public func sent(_ fields: HTTPFields) -> HTTPFields {
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

extension StoredHead {
    /// Whether the stored answer can serve `request` at all: conditions for the origin, several ranges, ranges of a
    /// coded body and ranges of anything but a 200 go to the server. A part serves requests for bytes that it has.
    public func canAnswer(_ request: RequestHead) -> Bool {
        guard !request.needsOrigin else { return false }
        guard head.status != 206 else { return StoredPart(self)?.offsets(for: request) != nil }
        guard let range = request.range else { return true }
        return ByteRange(range) != nil && head.status == 200 && !isCoded
    }

    /// Whether the body has a content coding: byte ranges are of the coded body, which is not what is stored.
    var isCoded: Bool {
        (head.fields.combined("Content-Encoding").map(FieldList.members) ?? []).contains {
            $0.lowercased() != "identity"
        }
    }
}
