// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// What HTTP says about known bytes for this request. Bytes without an HTTP head (an app's own loader) are always
/// fresh and may always be stored.
extension RequestPlan {
    /// The fields that are sent, as they select among stored answers. Made when needed: few answers vary.
    var selecting: HTTPFields { defaults.configuration.downloader.sent(request.fields).withHashedSecrets }

    /// Fields that keep answers apart besides those their Vary names. What is part of the key does so already.
    var separating: [String] {
        let isInKey = request.varyingFields.contains { $0.lowercased() == "authorization" }
        return isInKey || !defaults.http.separatesCredentials ? [] : ["authorization"]
    }

    /// Whether the request would get this answer, as far as Vary tells (RFC 9111 4.1).
    func selects(_ head: StoredHead) -> Bool { !head.isNegotiated || head.matches(selecting) }

    /// Whether the request may be shown this picture: it was not chosen by fields that differ.
    func selects(_ image: Image) -> Bool {
        guard let resource = image.resource, resource.isNegotiated else { return true }
        return resource.head.map(selects) ?? true
    }

    /// Whether what another request has just got would have been given to this one too.
    func accepts(_ resource: ResourceRecord) -> Bool {
        guard let head = resource.head, head.isNegotiated else { return true }
        return !head.differs(from: selecting)
    }

    /// Whether the bytes answer without asking the server (RFC 9111 4).
    func isFresh(_ resource: ResourceRecord) -> Bool {
        guard let head = resource.head else { return true }
        guard selects(head) else { return false }
        switch head.decision(for: request.fields, now: now, policy: defaults.http) {
        case .fresh: return true
        case .stale(let staleness): return staleness.isAccepted
        case .mustRevalidate: return false
        }
    }

    /// What known bytes may do for this request.
    enum Standing: Sendable, Hashable {
        /// Answer it.
        case answers
        /// Answer it while the server is asked behind (RFC 5861 3).
        case answersMeanwhile
        /// Be shown until the server has answered.
        case waits
    }

    /// What the policy and HTTP let the bytes do.
    func standing(of resource: ResourceRecord?) -> Standing {
        switch policy {
        case .cacheFirst, .cacheOnly: return .answers
        case .refresh, .reload: return .waits
        case .http: break
        }
        guard let resource else { return .answers }
        let isPlain = request.fields.lines.isEmpty
        if isPlain, !resource.isNegotiated, resource.isKnownFresh(at: now, by: defaults) { return .answers }
        guard let head = resource.head else { return .answers }
        guard selects(head) else { return .waits }
        switch head.decision(for: request.fields, now: now, policy: defaults.http) {
        case .fresh:
            if isPlain { noteFresh(resource, head) }
            return .answers
        case .mustRevalidate: return .waits
        case .stale(let staleness):
            if staleness.isAccepted { return .answers }
            return staleness.mayServeWhileRevalidating ? .answersMeanwhile : .waits
        }
    }

    private func noteFresh(_ resource: ResourceRecord, _ head: StoredHead) {
        let remaining = head.freshness(now: now, policy: defaults.http).remaining
        guard remaining > 0 else { return }
        resource.noteFresh(in: now..<now.addingTimeInterval(remaining), of: head, by: defaults)
    }

    /// Whether stale bytes may stand in for an answer that failed (RFC 9111 4.2.4, RFC 5861 4).
    func allowsStale(_ resource: ResourceRecord, instead failure: NetworkError) -> Bool {
        guard let head = resource.head, selects(head) else { return resource.head == nil }
        switch head.decision(for: request.fields, now: now, policy: defaults.http) {
        case .fresh: return true
        case .mustRevalidate: return false
        case .stale(let staleness):
            switch failure.reason {
            case .status:
                return defaults.http.staleOnError
                    && [500, 502, 503, 504].contains(failure.status ?? 0) && staleness.mayServeOnError
            default: return failure.isUnreachable && defaults.http.staleWhenUnreachable && staleness.mayServeOffline
            }
        }
    }

    /// Fields that ask the server whether the bytes still hold; nil where they have no validator or the policy wants
    /// none.
    func conditions(for resource: ResourceRecord) -> HTTPFields? {
        guard policy != .reload, var fields = resource.head?.conditionalFields(), !fields.lines.isEmpty else {
            return nil
        }
        // What Fetch sends for "no-cache": caches on the way shall ask the origin too.
        if policy == .refresh { fields.append(name: "Cache-Control", value: "max-age=0") }
        return fields
    }

    /// Whether a private cache may keep the bytes and what is made of them (RFC 9111 3).
    func allowsStoring(_ resource: ResourceRecord) -> Bool {
        guard let head = resource.head else { return true }
        return StoredHead.isStorable(method: "GET", request: request.fields, response: head.head)
    }
}

extension ResourceRecord {
    /// Takes a 304 for these bytes; gives the head as it is now.
    func confirm(with notModified: StoredHead, _ plan: RequestPlan) -> StoredHead {
        guard let known = head else { return notModified }
        var merged = known.merging(
            notModified: notModified.head, requestTime: notModified.requestTime,
            responseTime: notModified.responseTime)
        merged.varying = StoredHead.selecting(
            request: plan.selecting, response: merged.head.fields, separating: plan.separating)
        update(head: merged)
        return merged
    }
}
