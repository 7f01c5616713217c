// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The records of images in use, by the key of their data. This class is thread-safe.
final class OriginalInfoRegistry: Sendable {
    private let records = Lock(WeakTable<CacheKey, OriginalInfo, Void>())

    /// Returns the record of this data: an updated existing record that images already refer to, or a new one.
    /// `isSubstitute` indicates that the data comes from an alternative without an HTTP response.
    func record(
        for key: CacheKey, _ data: Data, head: StoredResponseHead?, isSubstitute: Bool = false
    ) -> OriginalInfo {
        record(for: key, ContentDigest(of: data), byteCount: data.count, head: head, isSubstitute: isSubstitute)
    }

    /// Returns the record of the data of a stored entry, like ``record(for:_:head:isSubstitute:)``.
    func record(for key: CacheKey, _ stored: EntrySummary) -> OriginalInfo {
        record(for: key, stored.content, byteCount: stored.byteCount, head: stored.head, isSubstitute: false)
    }

    private func record(
        for key: CacheKey, _ digest: ContentDigest, byteCount: Int, head: StoredResponseHead?, isSubstitute: Bool
    ) -> OriginalInfo {
        let fresh = OriginalInfo(digest: digest, byteCount: byteCount, head: head, isSubstitute: isSubstitute)
        let known = records.withLock { records -> OriginalInfo? in
            if let known = records[key]?.object, known.digest == digest { return known }
            records.insert(fresh, for: key)
            return nil
        }
        guard let known else { return fresh }
        if !isSubstitute { known.recordSource() }
        if let head { known.update(head: head) }
        return known
    }
}
