// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The HTTP caching rules for this request and known data. ``CacheAction`` and ``RevalidationResult`` make every
/// decision. Data without a response head (for example, from a custom loader) is always fresh and can always be stored.
extension ResolvedRequest {
    /// The header fields that are sent, for the selection of variants. They're computed on demand because few responses
    /// vary.
    var selectingHeaders: HTTPHeaderFields { defaults.configuration.downloader.sent(request.headers).withHashedSecrets }

    /// The header fields that separate responses in addition to those that Vary names. Header fields that are part of
    /// the key separate responses already.
    var separating: [String] {
        guard defaults.http.separatesCredentials else { return [] }
        return ["authorization", "cookie"].filter { !request.isKeyHeader($0) }
    }

    /// Returns whether the stored response matches the request according to Vary (RFC 9111 4.1).
    func selects(_ head: StoredResponseHead) -> Bool { !head.isNegotiated || head.matches(selectingHeaders) }

    /// Returns whether the image can serve the request, which is the case unless other header fields selected it.
    func selects(_ image: DecodedImage) -> Bool {
        guard let resource = image.resource, resource.isNegotiated else { return true }
        return resource.head.map(selects) ?? true
    }

    /// Returns whether this request would have received the same response as another request just now.
    func accepts(_ resource: OriginalInfo) -> Bool {
        guard let head = resource.head, head.isNegotiated else { return true }
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

    /// The next step if nothing is cached.
    var stepWithoutStored: CacheAction { CacheAction.make(head, mode: mode, stored: nil, now: now) }

    /// Returns the next step for known data. `resource` is `nil` for an image without a record.
    func step(for resource: OriginalInfo?) -> CacheAction {
        switch policy {
        case .cacheFirst, .cacheOnly: return .use
        case .reload: return stepWithoutStored
        case .refresh:
            // Revalidate `immutable` responses too, because the caller explicitly requests it.
            guard let head = resource?.head, selects(head) else { return stepWithoutStored }
            return CacheAction.confirmation(of: head, for: self.head, mode: mode)
        case .http: break
        }
        guard let resource else { return .use }
        let isPlain = request.headers.lines.isEmpty
        // Check this before reading the response head, because every memory hit takes this path.
        if isPlain, !resource.isNegotiated, resource.isKnownFresh(at: now, by: defaults) { return .use }
        guard let head = resource.head else { return .use }
        guard selects(head) else { return stepWithoutStored }
        let step = CacheAction.make(self.head, mode: mode, stored: head, policy: defaults.http, now: now)
        if step == .use, isPlain { recordFresh(resource, head) }
        return step
    }

    private func recordFresh(_ resource: OriginalInfo, _ head: StoredResponseHead) {
        let remaining = head.freshness(now: now, policy: defaults.http).remaining
        guard remaining > 0 else { return }
        resource.recordFresh(in: now..<now.addingTimeInterval(remaining), of: head, by: defaults)
    }

    /// Returns the outcome of `event`, which is the server's response to `step`.
    func outcome(_ event: RevalidationResult.ServerResult, of step: CacheAction, stored: OriginalInfo?)
        -> RevalidationResult
    {
        let head = stored?.head.flatMap { selects($0) ? $0 : nil }
        return RevalidationResult.make(
            event, request: self.head, step: step, mode: mode, stored: head, policy: defaults.http, now: now)
    }

    /// Returns whether the data is fresh, or stale to a degree that the request accepts (RFC 9111 4).
    func isFresh(_ resource: OriginalInfo) -> Bool {
        guard let head = resource.head else { return true }
        guard selects(head) else { return false }
        switch head.decision(for: request.headers, now: now, policy: defaults.http) {
        case .fresh: return true
        case .stale(let staleness): return staleness.isAccepted
        case .mustRevalidate: return false
        }
    }

    /// Returns whether known data can replace a response that failed with `error` (RFC 9111 4.2.4, RFC 5861 4).
    func usesStale(_ resource: OriginalInfo, insteadOf error: ImageError) -> Bool {
        if policy == .refresh { return true }
        guard case .network(let failure) = error else { return false }
        guard let head = resource.head else { return true }
        guard selects(head) else { return false }
        let step = step(for: resource)
        if step == .use { return true }
        let event: RevalidationResult.ServerResult
        if failure.reason == .unacceptableStatusCode {
            event = .response(HTTPResponseHead(statusCode: failure.statusCode ?? 0))
        } else if failure.isUnreachable {
            event = .unreachable
        } else {
            return false
        }
        return outcome(event, of: step, stored: resource) == .useStale
    }

    /// Returns whether a private cache can store the data and images made from it (RFC 9111 3).
    func allowsStoring(_ resource: OriginalInfo) -> Bool {
        guard let head = resource.head else { return true }
        return StoredResponseHead.isStorable(method: "GET", request: request.headers, response: head.head)
    }
}

extension CacheAction {
    /// A Boolean value that indicates whether known data serves the request without waiting for the server.
    var servesRequest: Bool {
        switch self {
        case .use, .useStale: true
        case .revalidate, .fetch, .gatewayTimeout: false
        }
    }

    /// A Boolean value that indicates whether known data serves the request without contacting the server.
    var needsNothing: Bool { servesRequest && !revalidatesInBackground }

    /// A Boolean value that indicates whether known data serves the request during a background revalidation (RFC 5861
    /// 3).
    var revalidatesInBackground: Bool { self == .useStale(revalidatesInBackground: true) }
}

extension OriginalInfo {
    /// Merges a 304 response for this data and returns the resulting head.
    func confirm(with notModified: StoredResponseHead, _ plan: ResolvedRequest) -> StoredResponseHead {
        guard let known = head else { return notModified }
        var merged = known.merging(
            notModified: notModified.head, requestTime: notModified.requestTime,
            responseTime: notModified.responseTime)
        merged.varyHeaders = StoredResponseHead.selectingHeaders(
            request: plan.selectingHeaders, response: merged.head.headers, separating: plan.separating)
        merged.limitFreshness(likeNotModified: notModified)
        update(head: merged)
        return merged
    }
}
