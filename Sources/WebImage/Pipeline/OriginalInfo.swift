// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The information about the data from which images were made.
///
/// Images of all sizes share one record, so one 304 response makes all of them fresh again. Each image has its record
/// as its provenance. This class is thread-safe.
final class OriginalInfo: Sendable {
    let digest: ContentDigest
    let byteCount: Int
    private struct State {
        var head: StoredResponseHead?
        var isNegotiated: Bool
        var isSubstitute = false
        /// A time span in which the data is fresh for requests without header fields, and the rules that apply.
        var fresh: (rules: ObjectIdentifier, span: Range<Date>)?

        init(_ head: StoredResponseHead?) {
            self.head = head
            isNegotiated = head?.isNegotiated ?? false
        }
    }

    private let state: Lock<State>

    /// Creates a record. `head` is `nil` for sources other than HTTP.
    init(digest: ContentDigest, byteCount: Int, head: StoredResponseHead?, isSubstitute: Bool = false) {
        self.digest = digest
        self.byteCount = byteCount
        var state = State(head)
        state.isSubstitute = isSubstitute
        self.state = Lock(state)
    }

    /// Whether the data comes only from an alternative without an HTTP response, such as a file. It would never become
    /// stale, so it must not be stored for the URL of the request.
    var isSubstitute: Bool { state.withLock { $0.isSubstitute } }

    /// Records that the source of the request itself returned this data.
    func recordSource() { state.withLock { $0.isSubstitute = false } }

    /// The response head of the last response that contained or revalidated this data.
    var head: StoredResponseHead? { state.withLock { $0.head } }

    var isNegotiated: Bool { state.withLock { $0.isNegotiated } }

    /// Returns whether the data is known to be fresh at `now` for a request without header fields. If this method
    /// returns `false`, the caller must evaluate the header fields, which takes longer than a memory lookup. The result
    /// is `false` for data that header fields of the request selected.
    func isKnownFresh(at now: Date, by rules: RequestDefaults) -> Bool {
        state.withLock { state in
            guard let fresh = state.fresh, !state.isNegotiated, fresh.rules == ObjectIdentifier(rules) else {
                return false
            }
            return fresh.span.contains(now)
        }
    }

    /// Records that the data is fresh in `span` if `head` is still its response head.
    func recordFresh(in span: Range<Date>, of head: StoredResponseHead, by rules: RequestDefaults) {
        state.withLock { state in
            guard state.head?.responseTime == head.responseTime else { return }
            state.fresh = (ObjectIdentifier(rules), span)
        }
    }

    func discardFreshness() { state.withLock { $0.fresh = nil } }

    /// Replaces the response head unless the current one is newer.
    func update(head: StoredResponseHead) {
        let new = State(head)
        state.withLock { state in
            if let known = state.head, known.responseTime > head.responseTime { return }
            state = new
        }
    }
}

extension DecodedImage {
    var originalInfo: OriginalInfo? { provenance as? OriginalInfo }
}
