// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// What HTTP says about known bytes for this request; every decision is made by ``CacheStep`` and ``CacheOutcome``.
/// Bytes without an HTTP head (an application's own loader) are always fresh and may always be stored.
extension RequestPlan {
    /// The fields that are sent, as they select among stored responses. Made when needed: few responses vary.
    var selecting: HTTPFields { defaults.configuration.downloader.sent(request.fields).withHashedSecrets }

    /// Fields that separate responses besides those that Vary names. Fields that are part of the key do so already.
    var separating: [String] {
        guard defaults.http.separatesCredentials else { return [] }
        return ["authorization", "cookie"].filter { !request.isKeyField($0) }
    }

    /// Whether the request would get this response, as far as Vary tells (RFC 9111 4.1).
    func selects(_ head: StoredHead) -> Bool { !head.isNegotiated || head.matches(selecting) }

    /// Whether the request may be shown this image: it was not selected by fields that differ.
    func selects(_ image: Image) -> Bool {
        guard let resource = image.resource, resource.isNegotiated else { return true }
        return resource.head.map(selects) ?? true
    }

    /// Whether a response that another request got just now would have been given to this request too.
    func accepts(_ resource: ResourceRecord) -> Bool {
        guard let head = resource.head, head.isNegotiated else { return true }
        return !head.differs(from: selecting)
    }

    /// The cache mode of ``policy`` in the terms of Fetch.
    private var mode: HTTPCacheMode {
        switch policy {
        case .http: .default
        case .cacheFirst: .forceCache
        case .refresh: .noCache
        case .reload: .reload
        case .cacheOnly: .onlyIfCached
        }
    }

    private var head: RequestHead { RequestHead(fields: request.fields) }

    /// What the request does when nothing is known.
    var stepWithoutStored: CacheStep { CacheStep.make(head, mode: mode, stored: nil, now: now) }

    /// What the request does with known bytes; `resource` is nil for an image that the application made itself.
    func step(for resource: ResourceRecord?) -> CacheStep {
        switch policy {
        case .cacheFirst, .cacheOnly: return .use
        case .reload: return stepWithoutStored
        case .refresh:
            // `immutable` responses too: somebody wants to know.
            guard let head = resource?.head, selects(head) else { return stepWithoutStored }
            return CacheStep.confirmation(of: head, for: self.head, mode: mode)
        case .http: break
        }
        guard let resource else { return .use }
        let isPlain = request.fields.lines.isEmpty
        // Before the head is even looked at: this is the path of every memory hit.
        if isPlain, !resource.isNegotiated, resource.isKnownFresh(at: now, by: defaults) { return .use }
        guard let head = resource.head else { return .use }
        guard selects(head) else { return stepWithoutStored }
        let step = CacheStep.make(self.head, mode: mode, stored: head, policy: defaults.http, now: now)
        if step == .use, isPlain { noteFresh(resource, head) }
        return step
    }

    private func noteFresh(_ resource: ResourceRecord, _ head: StoredHead) {
        let remaining = head.freshness(now: now, policy: defaults.http).remaining
        guard remaining > 0 else { return }
        resource.noteFresh(in: now..<now.addingTimeInterval(remaining), of: head, by: defaults)
    }

    /// What becomes of `event`, the server's response to `step`.
    func outcome(_ event: CacheOutcome.Event, of step: CacheStep, stored: ResourceRecord?) -> CacheOutcome {
        let head = stored?.head.flatMap { selects($0) ? $0 : nil }
        return CacheOutcome.make(
            event, request: self.head, step: step, mode: mode, stored: head, policy: defaults.http, now: now)
    }

    /// Whether the bytes are fresh for this request, or as stale as it accepts (RFC 9111 4).
    func isFresh(_ resource: ResourceRecord) -> Bool {
        guard let head = resource.head else { return true }
        guard selects(head) else { return false }
        switch head.decision(for: request.fields, now: now, policy: defaults.http) {
        case .fresh: return true
        case .stale(let staleness): return staleness.isAccepted
        case .mustRevalidate: return false
        }
    }

    /// Whether known bytes may be used instead of a response that failed with `error` (RFC 9111 4.2.4, RFC 5861 4).
    func usesStale(_ resource: ResourceRecord, insteadOf error: ImageError) -> Bool {
        if policy == .refresh { return true }
        // A remembered failure says as much about the server as it did when it was new.
        guard case .network(let failure) = error.remembered ?? error else { return false }
        guard let head = resource.head else { return true }
        guard selects(head) else { return false }
        let step = step(for: resource)
        if step == .use { return true }
        let event: CacheOutcome.Event
        if failure.reason == .status {
            event = .answer(ResponseHead(status: failure.status ?? 0))
        } else if failure.isUnreachable {
            event = .unreachable
        } else {
            return false
        }
        return outcome(event, of: step, stored: resource) == .useStale
    }

    /// Whether a private cache may store the bytes and what is made of them (RFC 9111 3).
    func allowsStoring(_ resource: ResourceRecord) -> Bool {
        guard let head = resource.head else { return true }
        return StoredHead.isStorable(method: "GET", request: request.fields, response: head.head)
    }
}

extension CacheStep {
    /// Whether known bytes answer the request without waiting for the server.
    var answers: Bool {
        switch self {
        case .use, .useStale: true
        case .revalidate, .fetch, .gatewayTimeout: false
        }
    }

    /// Whether known bytes answer and nothing is asked.
    var needsNothing: Bool { answers && !revalidatesInBackground }

    /// Whether known bytes answer while the server is asked in the background (RFC 5861 3).
    var revalidatesInBackground: Bool { self == .useStale(revalidatesBehind: true) }
}

extension ResourceRecord {
    /// Merges a 304 for these bytes; returns the head as it is now.
    func confirm(with notModified: StoredHead, _ plan: RequestPlan) -> StoredHead {
        guard let known = head else { return notModified }
        var merged = known.merging(
            notModified: notModified.head, requestTime: notModified.requestTime,
            responseTime: notModified.responseTime)
        merged.varying = StoredHead.selecting(
            request: plan.selecting, response: merged.head.fields, separating: plan.separating)
        merged.limitFreshness(likeNotModified: notModified)
        update(head: merged)
        return merged
    }
}
