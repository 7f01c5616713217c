// SPDX-License-Identifier: MIT

import Foundation

/// The action of a private cache after it contacted the server.
public enum CacheOutcome: Sendable, Hashable {
    /// The result of contacting the server.
    public enum Event: Sendable, Hashable {
        /// A response from the server.
        case answer(ResponseHead)
        /// The lack of a response, because the connection failed or was interrupted.
        case unreachable
    }

    /// An outcome that delivers the response of the server. `freshens` is `true` if it's a 304 response to the
    /// caller's own conditions that also revalidates the stored response.
    case give(freshens: Bool)
    /// An outcome that delivers the stored response after revalidation. The header fields of the 304 response update
    /// its head.
    case confirmed
    /// An outcome that repeats the request without conditions, because the 304 response doesn't refer to the stored
    /// response.
    case askAgain
    /// An outcome that delivers the stored response although it's stale.
    case useStale
    /// An outcome that fails, because no response is available.
    case fail

    /// The status codes to which `stale-if-error` applies (RFC 5861 4).
    public static let errorStatuses: Set<Int> = [500, 502, 503, 504]

    /// Returns the action for the result of contacting the server.
    ///
    /// - Parameters:
    ///   - event: The result of contacting the server.
    ///   - request: The request of the caller.
    ///   - step: The step that sent the request.
    ///   - mode: The cache mode of the request.
    ///   - stored: The stored response that `Vary` selects, or `nil` if there is none.
    ///   - policy: The policy of the cache.
    ///   - now: The current time.
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
    /// Returns the permitted uses of the stored response if the server fails, or `nil` if there are none.
    func fallback(
        for request: RequestHead, mode: HTTPCacheMode, policy: HTTPCachePolicy, now: Date
    ) -> CacheDecision.Staleness? {
        guard request.mayUseStored, mode == .default || mode == .forceCache, !CacheControl(request.fields).noStore,
            canAnswer(request),
            case .stale(let staleness) = decision(for: request.fields, now: now, policy: policy)
        else { return nil }
        return staleness
    }

    /// Returns whether a 304 response to this response's validators revalidates it (RFC 9111 4.3.4).
    ///
    /// If the entity tags differ, the modification times must be equal, because servers of one site may generate
    /// different tags.
    public func isConfirmed(by notModified: ResponseHead) -> Bool {
        guard let tag = notModified.fields["ETag"], let own = head.fields["ETag"],
            !EntityTag.isSameText(tag, own)
        else { return true }
        let modified = head.fields["Last-Modified"]
        return modified != nil && modified == notModified.fields["Last-Modified"]
    }

    /// Returns whether a 304 response to the caller's own conditions also refers to this response.
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
