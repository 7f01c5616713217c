// SPDX-License-Identifier: MIT

import Foundation

/// The action of a private cache after it contacted the server.
package enum RevalidationResult: Sendable, Hashable {
    /// The result of contacting the server.
    package enum ServerResult: Sendable, Hashable {
        /// A response from the server.
        case response(HTTPResponseHead)
        /// The lack of a response, because the connection failed or was interrupted.
        case unreachable
    }

    /// An outcome that delivers the response of the server. `updatesStored` is `true` if it's a 304 response to the
    /// caller's own conditions that also revalidates the stored response.
    case useResponse(updatesStored: Bool)
    /// An outcome that delivers the stored response after revalidation. The header fields of the 304 response update
    /// its head.
    case revalidated
    /// An outcome that repeats the request without conditions, because the 304 response doesn't refer to the stored
    /// response.
    case repeatUnconditionally
    /// An outcome that delivers the stored response although it's stale.
    case useStale
    /// An outcome that fails, because no response is available.
    case fail

    /// The status codes to which `stale-if-error` applies (RFC 5861 4).
    package static let errorStatuses: Set<Int> = [500, 502, 503, 504]

    /// Returns the action for the result of contacting the server for `step`. `stored` is the response that `Vary`
    /// selects, or `nil` if there is none.
    package static func make(
        _ event: ServerResult, request: RequestHead, step: CacheAction, mode: HTTPCacheMode = .default,
        stored: StoredResponseHead?,
        policy: HTTPCachePolicy = HTTPCachePolicy(), now: Date
    ) -> RevalidationResult {
        let staleness = stored.flatMap { $0.fallback(for: request, mode: mode, policy: policy, now: now) }
        switch event {
        case .unreachable:
            return policy.servesStaleWhenUnreachable && staleness?.mayServeOffline == true ? .useStale : .fail
        case .response(let head) where head.statusCode == 304:
            if case .revalidate = step, let stored {
                return stored.isConfirmed(by: head) ? .revalidated : .repeatUnconditionally
            }
            return .useResponse(updatesStored: stored?.isConfirmed(by: head, for: request) == true)
        case .response(let head):
            let mayReplace = policy.servesStaleOnError && staleness?.mayServeOnError == true
            return errorStatuses.contains(head.statusCode) && mayReplace
                ? .useStale : .useResponse(updatesStored: false)
        }
    }
}

extension StoredResponseHead {
    /// Returns the permitted uses of the stored response if the server fails, or `nil` if there are none.
    func fallback(
        for request: RequestHead, mode: HTTPCacheMode, policy: HTTPCachePolicy, now: Date
    ) -> FreshnessDecision.StaleUse? {
        guard request.mayUseStored, mode == .default || mode == .forceCache, !CacheControl(request.headers).noStore,
            canServe(request),
            case .stale(let staleness) = decision(for: request.headers, now: now, policy: policy)
        else { return nil }
        return staleness
    }

    /// Returns whether a 304 response to this response's validators revalidates it (RFC 9111 4.3.4).
    ///
    /// If the entity tags differ, the modification times must be equal, because servers of one site may generate
    /// different tags.
    package func isConfirmed(by notModified: HTTPResponseHead) -> Bool {
        guard let tag = notModified.headers["ETag"], let own = head.headers["ETag"],
            !EntityTag.isSameText(tag, own)
        else { return true }
        let modified = head.headers["Last-Modified"]
        return modified != nil && modified == notModified.headers["Last-Modified"]
    }

    /// Returns whether a 304 response to the caller's own conditions also refers to this response.
    func isConfirmed(by notModified: HTTPResponseHead, for request: RequestHead) -> Bool {
        if let tag = notModified.headers["ETag"] {
            return head.headers["ETag"].map { EntityTag.isSameText(tag, $0) } ?? false
        }
        if let asked = request.headers.combined("If-None-Match") {
            return head.headers["ETag"].map { own in
                EntityTag.list(asked).count == 1 && EntityTag.list(asked).contains { EntityTag.isSameText($0, own) }
            } ?? false
        }
        guard let since = request.headers["If-Modified-Since"] else { return false }
        return since == head.headers["Last-Modified"]
    }
}
