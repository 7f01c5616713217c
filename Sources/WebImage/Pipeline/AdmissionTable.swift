// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The different requests in flight, if their number is limited. This class is thread-safe.
final class AdmissionTable: Sendable {
    /// The key of a request. Requests with equal keys count as one.
    struct Key: Hashable, Sendable {
        let final: CacheKey.Digest
        let encoding: ImageEncoding?
    }

    private let places = Lock<[Key: Int]>([:])

    /// The number of different requests in flight.
    var count: Int { places.withLock { $0.count } }

    /// Admits a request if an equal request is in flight or fewer than `limit` different requests are.
    ///
    /// - Throws: A ``LimitError`` of the kind overloaded.
    func enter(_ key: Key, limit: Int) throws(ImageError) {
        let full = places.withLock { places -> Int? in
            guard places[key] != nil || places.count < limit else { return places.count }
            places[key, default: 0] += 1
            return nil
        }
        if let full { throw .limit(LimitError(.overloaded, limit: limit, actual: full + 1)) }
    }

    /// Removes a finished request.
    func leave(_ key: Key) {
        places.withLock { places in
            guard let count = places[key] else { return }
            places[key] = count > 1 ? count - 1 : nil
        }
    }
}
