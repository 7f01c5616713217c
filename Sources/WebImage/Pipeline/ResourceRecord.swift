// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

/// What is known of the bytes that pictures were made of. All sizes of one picture share the record, so that one 304
/// makes all of them fresh again. Pictures carry it as their provenance. Thread-safe.
final class ResourceRecord: Sendable {
    let digest: ContentDigest
    /// Size of the original in bytes.
    let byteCount: Int
    private struct State {
        var head: StoredHead?
        /// Whether the answer was chosen by fields of the request.
        var isNegotiated: Bool
        /// A time span in which the bytes were found to be fresh for requests without fields, and by whose rules.
        var fresh: (rules: ObjectIdentifier, span: Range<Date>)?

        init(_ head: StoredHead?) {
            self.head = head
            isNegotiated = head?.isNegotiated ?? false
        }
    }

    private let state: Lock<State>

    /// `head` is nil for sources without HTTP.
    init(digest: ContentDigest, byteCount: Int, head: StoredHead?) {
        self.digest = digest
        self.byteCount = byteCount
        self.state = Lock(State(head))
    }

    /// Status and fields of the last answer that these bytes were, or were confirmed by.
    var head: StoredHead? { state.withLock { $0.head } }

    /// Whether the answer was chosen by fields of the request (Vary).
    var isNegotiated: Bool { state.withLock { $0.isNegotiated } }

    /// Whether the bytes are known to be fresh at `now` for a request without fields. False where that has to be worked
    /// out: fields are parsed for it, which takes longer than a look into memory.
    func isKnownFresh(at now: Date, by rules: RequestDefaults) -> Bool {
        state.withLock { state in
            guard let fresh = state.fresh, fresh.rules == ObjectIdentifier(rules) else { return false }
            return fresh.span.contains(now)
        }
    }

    /// Remembers that the bytes are fresh in `span`, where `head` is still theirs.
    func noteFresh(in span: Range<Date>, of head: StoredHead, by rules: RequestDefaults) {
        state.withLock { state in
            guard state.head?.responseTime == head.responseTime else { return }
            state.fresh = (ObjectIdentifier(rules), span)
        }
    }

    /// Takes the head of an answer for the same bytes, unless a newer one is known.
    func update(head: StoredHead) {
        let new = State(head)
        state.withLock { state in
            if let known = state.head, known.responseTime > head.responseTime { return }
            state = new
        }
    }
}

extension Image {
    /// What the picture was made of; nil for pictures an app made itself.
    var resource: ResourceRecord? { provenance as? ResourceRecord }
}

/// The records of pictures that are alive, by the key of their bytes. Thread-safe.
final class ResourceTable: Sendable {
    private let records = Lock(WeakTable<CacheKey, ResourceRecord, Void>())

    /// The record of these bytes: the one that pictures already carry, brought up to date, or a new one.
    func record(for key: CacheKey, _ data: Data, head: StoredHead?) -> ResourceRecord {
        let digest = ContentDigest(of: data)
        let fresh = ResourceRecord(digest: digest, byteCount: data.count, head: head)
        let known = records.withLock { records -> ResourceRecord? in
            if let known = records[key]?.object, known.digest == digest { return known }
            records.insert(fresh, for: key)
            return nil
        }
        guard let known else { return fresh }
        if let head { known.update(head: head) }
        return known
    }
}
