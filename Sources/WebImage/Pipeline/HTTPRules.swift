// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The HTTP caching rules for a request and known data. ``CacheAction`` and ``RevalidationResult`` make every decision.
/// Data without a response head (for example, from a custom loader) is always fresh and can always be stored.
struct HTTPRules {
    private let plan: RequestPlan

    init(_ plan: RequestPlan) { self.plan = plan }

    private var request: ImageRequest { plan.request }
    private var policy: CachePolicy { plan.policy }
    private var now: Date { plan.now }
    private var choices: HTTPCachePolicy { plan.defaults.httpCachePolicy }

    /// They're computed on demand because few responses vary.
    var selectingHeaders: HTTPHeaderFields { plan.settings.rules.sent(request.headers).withHashedSecrets }

    /// The header fields that separate responses in addition to those that Vary names. Header fields that are part of
    /// the key separate responses already.
    var separating: [String] {
        guard choices.separatesCredentials else { return [] }
        return ["authorization", "cookie"].filter { !request.isKeyHeader($0) }
    }

    /// Returns whether the stored response matches the request according to Vary (RFC 9111 4.1).
    func selects(_ head: StoredResponseHead) -> Bool { !head.isNegotiated || head.matches(selectingHeaders) }

    /// Returns whether the data can serve the request, which is the case unless other header fields selected it.
    func selects(_ originalInfo: OriginalInfo) -> Bool {
        guard originalInfo.isNegotiated, let head = originalInfo.head else { return true }
        return selects(head)
    }

    func selects(_ image: DecodedImage) -> Bool {
        guard let originalInfo = image.originalInfo else { return true }
        return selects(originalInfo)
    }

    /// Returns whether this request would have received the same response as another request just now.
    func accepts(_ originalInfo: OriginalInfo) -> Bool {
        guard let head = originalInfo.head, head.isNegotiated else { return true }
        return !head.differs(from: selectingHeaders)
    }

    /// The cache mode of ``policy``, as the Fetch standard defines it.
    private var mode: HTTPCacheMode {
        switch policy {
        case .http: .default
        case .cacheFirst: .forceCache
        case .refresh: .noCache
        case .reload: .reload
        case .cacheOnly: .onlyIfCached
        }
    }

    private var head: RequestHead { RequestHead(headers: request.headers) }

    var stepWithoutStored: CacheAction { CacheAction.make(head, mode: mode, stored: nil, now: now) }

    /// Returns the next step for known data. `originalInfo` is `nil` for an image without a record.
    func step(for originalInfo: OriginalInfo?) -> CacheAction { decision(for: originalInfo).step }

    func decision(for originalInfo: OriginalInfo?) -> CacheDecision {
        switch policy {
        case .cacheFirst, .cacheOnly: return CacheDecision(step: .use)
        case .reload: return CacheDecision(step: stepWithoutStored)
        case .refresh:
            // Revalidate `immutable` responses too, because the caller explicitly requests it.
            guard let head = originalInfo?.head, selects(head) else { return CacheDecision(step: stepWithoutStored) }
            return CacheDecision(step: CacheAction.confirmation(of: head, for: self.head, mode: mode))
        case .http: break
        }
        guard let originalInfo else { return CacheDecision(step: .use) }
        // Check this before reading the response head, because every memory hit takes this path.
        if isKnownFresh(originalInfo) { return CacheDecision(step: .use) }
        guard let head = originalInfo.head else { return CacheDecision(step: .use) }
        guard selects(head) else { return CacheDecision(step: stepWithoutStored) }
        let step = CacheAction.make(self.head, mode: mode, stored: head, policy: choices, now: now)
        return plan.decision(step, for: originalInfo, head, isPlain: request.headers.lines.isEmpty)
    }

    /// Returns whether the data serves the request because it's known to be fresh for requests without header fields.
    /// The rules then don't have to be evaluated.
    func isKnownFresh(_ originalInfo: OriginalInfo) -> Bool {
        policy == .http && request.headers.lines.isEmpty && originalInfo.isKnownFresh(at: now, by: plan.defaults)
    }

    func outcome(_ event: RevalidationResult.ServerResult, of step: CacheAction, stored: OriginalInfo?)
        -> RevalidationResult
    {
        let head = stored?.head.flatMap { selects($0) ? $0 : nil }
        return RevalidationResult.make(
            event, request: self.head, step: step, mode: mode, stored: head, policy: choices, now: now)
    }

    /// Returns whether the data is fresh, or stale to a degree that the request accepts (RFC 9111 4).
    func isFresh(_ originalInfo: OriginalInfo) -> Bool {
        guard let head = originalInfo.head else { return true }
        guard selects(head) else { return false }
        switch head.decision(for: request.headers, now: now, policy: choices) {
        case .fresh: return true
        case .stale(let staleness): return staleness.isAccepted
        case .mustRevalidate: return false
        }
    }

    /// Returns whether known data can replace a response that failed with `error` (RFC 9111 4.2.4, RFC 5861 4).
    func usesStale(_ originalInfo: OriginalInfo, insteadOf error: ImageError) -> Bool {
        if policy == .refresh { return true }
        guard case .network(let failure) = error else { return false }
        guard let head = originalInfo.head else { return true }
        guard selects(head) else { return false }
        let step = step(for: originalInfo)
        if step == .use { return true }
        let event: RevalidationResult.ServerResult
        if failure.reason == .unacceptableStatusCode {
            event = .response(HTTPResponseHead(statusCode: failure.statusCode ?? 0))
        } else if failure.isUnreachable {
            event = .unreachable
        } else {
            return false
        }
        return outcome(event, of: step, stored: originalInfo) == .useStale
    }

    /// Returns whether a private cache can store the data and images made from it (RFC 9111 3).
    func allowsStoring(_ originalInfo: OriginalInfo) -> Bool {
        guard !originalInfo.isSubstitute else { return false }
        guard let head = originalInfo.head else { return true }
        return StoredResponseHead.isStorable(method: "GET", request: request.headers, response: head.head)
    }
}

extension CacheAction {
    /// Whether known data serves the request without waiting for the server.
    var servesRequest: Bool {
        switch self {
        case .use, .useStale: true
        case .revalidate, .fetch, .gatewayTimeout: false
        }
    }

    /// Whether known data serves the request without contacting the server.
    var needsNothing: Bool { servesRequest && !revalidatesInBackground }

    /// Whether known data serves the request during a background revalidation (RFC 5861 3).
    var revalidatesInBackground: Bool { self == .useStale(revalidatesInBackground: true) }
}

extension OriginalInfo {
    func confirm(with notModified: StoredResponseHead, _ plan: RequestPlan) -> StoredResponseHead {
        guard let known = head else { return notModified }
        var merged = known.merging(
            notModified: notModified.head, requestTime: notModified.requestTime,
            responseTime: notModified.responseTime)
        merged.varyHeaders = StoredResponseHead.selectingHeaders(
            request: plan.http.selectingHeaders, response: merged.head.headers, separating: plan.http.separating)
        merged.limitFreshness(likeNotModified: notModified)
        update(head: merged)
        return merged
    }
}
