// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The different requests in flight, if their number is limited. This class is thread-safe.
final class InFlightLimiter: Sendable {
    /// The key of a request. Requests with equal keys count as one.
    struct Key: Hashable, Sendable {
        let final: CacheKey.Digest
        let encoding: ImageEncoding?
    }

    private let slots = Lock<[Key: Int]>([:])

    /// The number of different requests in flight.
    var count: Int { slots.withLock { $0.count } }

    /// Admits a request if an equal request is in flight or fewer than `limit` different requests are.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind overloaded.
    func enter(_ key: Key, limit: Int) throws(ImageError) {
        let full = slots.withLock { places -> Int? in
            guard places[key] != nil || places.count < limit else { return places.count }
            places[key, default: 0] += 1
            return nil
        }
        if let full { throw .limitExceeded(ImageError.LimitFailure(.overloaded, limit: limit, actual: full + 1)) }
    }

    /// Removes a finished request.
    func leave(_ key: Key) {
        slots.withLock { places in
            guard let count = places[key] else { return }
            places[key] = count > 1 ? count - 1 : nil
        }
    }
}
