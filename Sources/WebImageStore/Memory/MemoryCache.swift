// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore

/// Decoded pictures in memory, bounded by the bytes of their pixels. The least recently used leave first, with a
/// second chance for what was read. A picture that left but is still shown somewhere is found again.
///
/// All methods may be called from any thread. The lock is held for a few memory accesses; pictures are released
/// outside it.
public final class MemoryCache: Sendable {
    /// What happened since the cache was made, and what it holds.
    public struct Statistics: Sendable, Hashable {
        /// Look-ups that found a picture.
        public internal(set) var hits = 0
        /// Look-ups that found none.
        public internal(set) var misses = 0
        /// Pictures that left because of a limit.
        public internal(set) var evictions = 0
        /// Bytes held now.
        public internal(set) var bytes = 0
        /// Pictures held now.
        public internal(set) var count = 0
    }

    private let store: Lock<ObjectStore<Image>>
    private let clock: StoreClock

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: bytes of pixels; default an eighth of the memory of the machine or of the control group,
    ///     at most 512 MiB. A picture that costs more than a tenth of it is not taken.
    ///   - countLimit: pictures; default unlimited.
    ///   - clock: where times to live are read; only its uptime is used.
    public init(
        costLimit: Int = MemoryCache.defaultCostLimit, countLimit: Int = .max, clock: StoreClock = .system
    ) {
        store = Lock(
            ObjectStore(costLimit: max(0, costLimit), countLimit: max(0, countLimit)) { $0.cost })
        self.clock = clock
    }

    /// An eighth of the memory this process may use, at most 512 MiB.
    public static let defaultCostLimit = min(512 << 20, SystemMemory.limit() / 8)

    /// The picture of `key`.
    public func image(for key: CacheKey) -> Image? {
        let digest = key.digest
        if let image = store.withLock({ $0.findLasting(digest) }) { return image }
        return change { store, leaving in store.find(key.digest, uptime: clock.uptime, leaving: &leaving) }
    }

    /// Keeps `image`, in place of an older one of its key. False, and nothing is kept, when it costs more than a
    /// tenth of the limit.
    ///
    /// - Parameter timeToLive: seconds; default unlimited.
    @discardableResult
    public func store(_ image: Image, for key: CacheKey, timeToLive: Double? = nil) -> Bool {
        let expires = timeToLive.map { clock.uptime() + $0 } ?? .infinity
        return change { store, leaving in
            store.store(image, for: key.digest, expires: expires, leaving: &leaving)
        }
    }

    /// Forgets the picture of `key`.
    public func remove(_ key: CacheKey) {
        change { store, leaving in store.remove(key.digest, leaving: &leaving) }
    }

    /// Forgets all pictures.
    public func removeAll() {
        // The old store leaves the lock as a whole, so that its pictures are released outside.
        let old = store.withLock { store in
            let old = store
            store.removeAll()
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Bytes of pixels that may be held. Lowering it evicts at once.
    public var costLimit: Int {
        get { store.withLock { $0.costLimit } }
        set {
            change { store, leaving in
                store.costLimit = max(0, newValue)
                store.evict(toCost: store.costLimit, count: store.countLimit, leaving: &leaving)
            }
        }
    }

    /// Pictures that may be held. Lowering it evicts at once.
    public var countLimit: Int {
        get { store.withLock { $0.countLimit } }
        set {
            change { store, leaving in
                store.countLimit = max(0, newValue)
                store.evict(toCost: store.costLimit, count: store.countLimit, leaving: &leaving)
            }
        }
    }

    /// Evicts until at most `fraction` (0…1) of the cost limit is held.
    public func trim(toFraction fraction: Double) {
        change { store, leaving in
            let bytes = fraction.isNaN ? 0 : Double(store.costLimit) * min(max(fraction, 0), 1)
            store.evict(toCost: Int(bytes), count: .max, leaving: &leaving)
        }
    }

    /// Counters and what is held.
    public var statistics: Statistics {
        store.withLock { store in
            var statistics = store.statistics
            statistics.bytes = store.cost
            statistics.count = store.count
            return statistics
        }
    }

    /// Runs `body` under the lock and releases what leaves after it.
    private func change<Result: Sendable>(
        _ body: (inout ObjectStore<Image>, inout [Image]) -> Result
    ) -> Result {
        var leaving: [Image] = []
        return store.withLock { body(&$0, &leaving) }
    }
}
