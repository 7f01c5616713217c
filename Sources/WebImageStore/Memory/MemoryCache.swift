// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
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
        /// Pictures that left because of a limit or of memory pressure.
        public internal(set) var evictions = 0
        /// Bytes held now.
        public internal(set) var bytes = 0
        /// Pictures held now.
        public internal(set) var count = 0

        /// Hits among all look-ups, 0 to 1; nil before the first.
        public var hitRate: Double? {
            hits + misses > 0 ? Double(hits) / Double(hits + misses) : nil
        }
    }

    let store: Lock<ObjectStore<Image>>
    let clock: TimeSource
    /// Seconds that pictures stored without a time to live of their own may be given out; nil for ever.
    public let timeToLive: Double?
    private let filled = Lock<(@Sendable () -> Void)?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: The maximum total size of the images, in bytes of pixel data. The default is one eighth of the
    ///     memory of the machine or of the control group, up to 512 MiB.
    ///   - countLimit: The maximum number of images. The default is unlimited.
    ///   - entryLimit: The maximum size of one image, in bytes of pixel data. Larger images aren't cached. The default
    ///     is `nil`, which means one tenth of the cost limit.
    ///   - timeToLive: The number of seconds for which an image may be returned after it was stored. The default is
    ///     `nil`, which means an unlimited time.
    public convenience init(
        costLimit: Int = MemoryCache.defaultCostLimit, countLimit: Int = .max, entryLimit: Int? = nil,
        timeToLive: Double? = nil
    ) {
        self.init(
            costLimit: costLimit, countLimit: countLimit, entryLimit: entryLimit, timeToLive: timeToLive,
            clock: .system)
    }

    /// Creates an empty cache that reads times to live on `clock`; only its uptime is used.
    package init(
        costLimit: Int = MemoryCache.defaultCostLimit, countLimit: Int = .max, entryLimit: Int? = nil,
        timeToLive: Double? = nil, clock: TimeSource
    ) {
        store = Lock(
            ObjectStore(
                costLimit: max(0, costLimit), countLimit: max(0, countLimit), entryLimit: entryLimit.map { max(0, $0) }
            ))
        self.timeToLive = timeToLive
        self.clock = clock
    }

    /// An eighth of the memory this process may use, at most 512 MiB.
    public static let defaultCostLimit = min(512 << 20, SystemMemory.limit() / 8)

    // MARK: - Pictures

    /// The picture of `key`.
    public func image(for key: CacheKey) -> Image? { image(for: key.digest) }

    /// The picture of the key with this digest: for callers who ask often. A key carries its text along, and copying
    /// it costs a fifth of a look-up.
    public func image(for digest: CacheKey.Digest) -> Image? {
        if let image = store.withLock({ $0.findLasting(digest) }) { return image }
        return findElsewhere(digest)
    }

    @inline(never)
    private func findElsewhere(_ digest: CacheKey.Digest) -> Image? {
        change { store, leaving in store.find(digest, uptime: clock.uptime, leaving: &leaving) }
    }

    /// Keeps `image`, in place of an older one of its key. False, and nothing is kept, when it costs more than the
    /// limit for one picture.
    ///
    /// - Parameters:
    ///   - rendition: what the picture was made as, so that other sizes find it; nil keeps it to its own key.
    ///   - timeToLive: seconds; default the cache's.
    ///   - isAhead: nobody has asked for it yet. The first to leave under memory pressure, unless it is read before.
    @discardableResult
    public func store(
        _ image: Image, for key: CacheKey, rendition: Rendition? = nil, timeToLive: Double? = nil,
        isAhead: Bool = false
    ) -> Bool {
        let lifetime = timeToLive ?? self.timeToLive
        let note = EntryNote(
            cost: image.cost, expires: lifetime.map { clock.uptime() + $0 } ?? .infinity, rendition: rendition,
            isAhead: isAhead)
        let (isKept, isFirst) = change { store, leaving in
            let wasEmpty = store.count == 0
            let isKept = store.store(image, for: key.digest, note: note, leaving: &leaving)
            return (isKept, isKept && wasEmpty)
        }
        if isFirst { filled.withLock { $0 }?() }
        return isKept
    }

    /// Forgets the picture of `key`.
    public func remove(_ key: CacheKey) {
        change { store, leaving in store.remove(key.digest, leaving: &leaving) }
    }

    /// Forgets all pictures.
    public func removeAll() {
        // The old table leaves the lock as a whole, so that its pictures are released outside.
        let old = store.withLock { $0.removeAll() }
        _ = consume old
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

    /// Calls `action` whenever a picture comes into the empty cache, on the thread that stored it.
    package func whenFilled(_ action: @escaping @Sendable () -> Void) {
        filled.withLock { $0 = action }
    }

    /// Runs `body` under the lock and releases what leaves after it.
    func change<Result: Sendable>(
        _ body: (inout ObjectStore<Image>, inout [Image]) -> Result
    ) -> Result {
        var leaving: [Image] = []
        let result = store.withLock { body(&$0, &leaving) }
        guard leaving.count > 64 else { return result }
        // Most of what left is not shown anywhere: its places in the weak table are free once it is released.
        leaving = []
        store.withLock { $0.pruneDeparted() }
        return result
    }
}
