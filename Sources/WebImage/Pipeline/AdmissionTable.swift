// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The different requests that are under way, where their number is limited. Thread-safe.
final class AdmissionTable: Sendable {
    /// What makes two requests one.
    struct Key: Hashable, Sendable {
        let final: CacheKey.Digest
        let encoding: ImageEncoding?
    }

    private let places = Lock<[Key: Int]>([:])

    /// Different requests under way.
    var count: Int { places.withLock { $0.count } }

    /// Lets a request in that is under way already, or while there are fewer than `limit`.
    ///
    /// - Throws: a ``LimitError`` of kind overloaded.
    func enter(_ key: Key, limit: Int) throws(ImageError) {
        let full = places.withLock { places -> Int? in
            guard places[key] != nil || places.count < limit else { return places.count }
            places[key, default: 0] += 1
            return nil
        }
        if let full { throw .limit(LimitError(.overloaded, limit: limit, actual: full + 1)) }
    }

    /// A request is over.
    func leave(_ key: Key) {
        places.withLock { places in
            guard let count = places[key] else { return }
            places[key] = count > 1 ? count - 1 : nil
        }
    }
}
