// SPDX-License-Identifier: MIT

import Foundation

/// What a private cache makes of the server's answer, or of there being none.
public enum CacheOutcome: Sendable, Hashable {
    /// What became of asking the server.
    public enum Event: Sendable, Hashable {
        /// An answer.
        case answer(ResponseHead)
        /// No answer: no connection, or one that was lost.
        case unreachable
    }

    /// The answer goes to the caller. `freshens`: it is a 304 to the caller's own conditions that confirms the stored
    /// answer too.
    case give(freshens: Bool)
    /// The stored answer holds: its head takes the 304's fields, and it is given.
    case confirmed
    /// The 304 is about something else than the stored answer: ask again, without conditions.
    case askAgain
    /// The stored answer is given although it is stale.
    case useStale
    /// Nothing can be given.
    case fail

    /// Statuses for which `stale-if-error` holds (RFC 5861 4).
    public static let errorStatuses: Set<Int> = [500, 502, 503, 504]

    /// The outcome of asking the server.
    ///
    /// - Parameters:
    ///   - step: how the server was asked.
    ///   - stored: the stored answer that Vary has selected; nil where there is none.
    public static func make(
        _ event: Event, request: RequestHead, step: CacheStep, mode: HTTPCacheMode = .default, stored: StoredHead?,
        policy: HTTPCachePolicy = .standard, now: Date
    ) -> CacheOutcome {
        let staleness = stored.flatMap { $0.fallback(for: request, mode: mode, policy: policy, now: now) }
        switch event {
        case .unreachable:
            return policy.staleWhenUnreachable && staleness?.mayServeOffline == true ? .useStale : .fail
        case .answer(let head) where head.status == 304:
            if case .revalidate = step, let stored {
                return stored.isConfirmed(by: head) ? .confirmed : .askAgain
            }
            return .give(freshens: stored?.isConfirmed(by: head, answering: request) == true)
        case .answer(let head):
            let mayReplace = policy.staleOnError && staleness?.mayServeOnError == true
            return errorStatuses.contains(head.status) && mayReplace ? .useStale : .give(freshens: false)
        }
    }
}

extension StoredHead {
    /// What the stored answer may serve for when the server fails; nil for nothing.
    func fallback(
        for request: RequestHead, mode: HTTPCacheMode, policy: HTTPCachePolicy, now: Date
    ) -> CacheDecision.Staleness? {
        guard request.mayUseStored, mode == .default || mode == .forceCache, !CacheControl(request.fields).noStore,
            canAnswer(request),
            case .stale(let staleness) = decision(for: request.fields, now: now, policy: policy)
        else { return nil }
        return staleness
    }

    /// Whether a 304 to conditions made of this answer's validators confirms it (RFC 9111 4.3.4). A 304 with another
    /// entity tag does so only where the time of modification is the same: servers of one site may tag differently.
    public func isConfirmed(by notModified: ResponseHead) -> Bool {
        guard let tag = notModified.fields["ETag"], let own = head.fields["ETag"],
            !EntityTag.isSameText(tag, own)
        else { return true }
        let modified = head.fields["Last-Modified"]
        return modified != nil && modified == notModified.fields["Last-Modified"]
    }

    /// Whether a 304 to the caller's own conditions is about this answer too.
    func isConfirmed(by notModified: ResponseHead, answering request: RequestHead) -> Bool {
        if let tag = notModified.fields["ETag"] {
            return head.fields["ETag"].map { EntityTag.isSameText(tag, $0) } ?? false
        }
        if let asked = request.fields.combined("If-None-Match") {
            return head.fields["ETag"].map { own in
                EntityTag.list(asked).count == 1 && EntityTag.list(asked).contains { EntityTag.isSameText($0, own) }
            } ?? false
        }
        guard let since = request.fields["If-Modified-Since"] else { return false }
        return since == head.fields["Last-Modified"]
    }
}
