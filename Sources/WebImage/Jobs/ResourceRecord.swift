// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore
import WebImageHTTP
import WebImageStore

/// What is known of the bytes that pictures were made of. All sizes of one picture share the record, so that one 304
/// makes all of them fresh again. Pictures carry it as their provenance. Thread-safe.
final class ResourceRecord: Sendable {
    let digest: ContentDigest
    /// Size of the original in bytes.
    let byteCount: Int
    private let state: Lock<StoredHead?>

    /// `head` is nil for sources without HTTP.
    init(digest: ContentDigest, byteCount: Int, head: StoredHead?) {
        self.digest = digest
        self.byteCount = byteCount
        self.state = Lock(head)
    }

    /// Status and fields of the last answer that these bytes were, or were confirmed by.
    var head: StoredHead? { state.withLock { $0 } }

    /// Takes the head of an answer for the same bytes, unless a newer one is known.
    func update(head: StoredHead) {
        state.withLock { state in
            if let known = state, known.responseTime > head.responseTime { return }
            state = head
        }
    }
}

extension Image {
    /// What the picture was made of; nil for pictures an app made itself.
    var resource: ResourceRecord? { provenance as? ResourceRecord }
}

/// The records of pictures that are alive, by the key of their bytes. Thread-safe.
final class ResourceTable: Sendable {
    private struct Weak {
        weak var record: ResourceRecord?
    }

    private struct State {
        var records: [CacheKey: Weak] = [:]
        var limit = 256
    }

    private let state = Lock(State())

    /// The record of these bytes: the one that pictures already carry, brought up to date, or a new one.
    func record(for key: CacheKey, _ data: Data, head: StoredHead?) -> ResourceRecord {
        let digest = ContentDigest(of: data)
        let fresh = ResourceRecord(digest: digest, byteCount: data.count, head: head)
        let known = state.withLock { state -> ResourceRecord? in
            if let known = state.records[key]?.record, known.digest == digest { return known }
            state.records[key] = Weak(record: fresh)
            guard state.records.count > state.limit else { return nil }
            state.records = state.records.filter { $0.value.record != nil }
            state.limit = max(256, state.records.count * 2)
            return nil
        }
        guard let known else { return fresh }
        if let head { known.update(head: head) }
        return known
    }
}
