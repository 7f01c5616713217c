// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The original data of an image, from any source. All requests that wait for the data share it.
final class OriginalData: Sendable {
    /// The separate entry of an image that was made from the data.
    struct ProcessedEntry: Hashable {
        let key: CacheKey
        let encoding: ImageEncoding
        /// The head of the data. A revalidation replaces it, and the entry is then stored again.
        let head: StoredResponseHead?
        /// The last removal of the key before the image was requested.
        let generation: CacheGeneration
    }

    let data: Data
    /// The image, if the application created it and there's no data.
    let image: DecodedImage?
    /// The digest and the response head of the data.
    let originalInfo: OriginalInfo
    /// The header of the image, or `nil` for formats that only a custom coder supports.
    let probe: ImageInfo?
    let origin: ImageResponse.Source
    let metrics: NetworkMetrics?
    /// The time at which the data was complete.
    let arrived = ContinuousClock.now
    /// A Boolean value that indicates whether a truncated response would have been detected. If it's `false`, the data
    /// is stored only after it was decoded.
    let isLengthKnown: Bool
    /// A Boolean value that indicates whether the end marker is missing and the length of the response is unknown. Such
    /// data makes partial images, which aren't stored.
    var mayBeTruncated: Bool { !isLengthKnown && probe?.isTruncated == true }
    /// The cache that the data was read from.
    let source: ImageCache?
    /// The last removal of the key before this data was requested.
    let generation: CacheGeneration
    /// A Boolean value that indicates whether later requests can use the data, because neither the response nor its
    /// request forbids storing.
    let mayBeReused: Bool
    /// The exchange that loaded the data, or `nil` if the data wasn't loaded.
    let exchange: ExchangeKey?
    /// The settings of the request that loaded the data, or `nil` if they had no effect on the data.
    let settings: SettingsSnapshot?
    /// The part of the budget for bodies in flight that the data uses while this object exists.
    private let charge: BodyCharge?
    let claims = StoreClaims()
    private let processedClaims = Lock<[ProcessedEntry: StoreClaims]>([:])
    /// A server can request many sizes, and each one leaves an empty slot in the table.
    private let made = Lock(WeakTable<ProcessingKey, DecodedImage, Void>(smallestLimit: 16))
    /// The steps for which the data was decoded before transformers were applied.
    private let decoded = Lock<Set<ProcessingKey>>([])

    init(
        data: Data, originalInfo: OriginalInfo, probe: ImageInfo?, origin: ImageResponse.Source,
        generation: CacheGeneration, exchange: ExchangeKey? = nil, settings: SettingsSnapshot? = nil,
        mayBeReused: Bool = true,
        metrics: NetworkMetrics? = nil,
        isLengthKnown: Bool = true, source: ImageCache? = nil, charge: BodyCharge? = nil
    ) {
        self.charge = charge
        self.data = data
        image = nil
        self.originalInfo = originalInfo
        self.probe = probe
        self.origin = origin
        self.generation = generation
        self.exchange = exchange
        self.settings = settings
        self.mayBeReused = mayBeReused
        self.metrics = metrics
        self.isLengthKnown = isLengthKnown
        self.source = source
    }

    /// Creates the data of an image that the application created and that `key` identifies.
    init(_ image: DecodedImage, key: CacheKey, generation: CacheGeneration, exchange: ExchangeKey) {
        data = Data()
        originalInfo = OriginalInfo(
            digest: ContentDigest(of: Data(key.fileName.utf8)), byteCount: 0, head: nil)
        self.image = image.with(provenance: originalInfo)
        probe = nil
        origin = .local
        self.generation = generation
        self.exchange = exchange
        settings = nil
        mayBeReused = true
        metrics = nil
        charge = nil
        isLengthKnown = true
        source = nil
    }

    /// Returns the claims to store an image that was made from this data. Requests for the same entry share them.
    func claims(for entry: ProcessedEntry) -> StoreClaims {
        processedClaims.withLock { claims in
            if let known = claims[entry] { return known }
            let new = StoreClaims()
            claims[entry] = new
            return new
        }
    }

    /// Returns an image that was made from this data and is still in use. So a request that comes just after a job has
    /// ended finds its result, even if nothing can be cached in memory.
    func image(for key: ProcessingKey) -> DecodedImage? { made.withLock { $0[key]?.object } }

    /// Records that the data was decoded for a step.
    func recordDecode(for key: ProcessingKey) { decoded.withLock { _ = $0.insert(key) } }

    /// Returns whether the data was decoded for a step, so it's valid. The image may no longer be in use.
    func wasDecoded(for key: ProcessingKey) -> Bool { decoded.withLock { $0.contains(key) } }

    /// Records an image for as long as both the image and this data are in use.
    func remember(_ image: DecodedImage, for key: ProcessingKey) {
        made.withLock { $0.insert(image, for: key) }
    }
}

/// The information about the data from which images were made.
///
/// Images of all sizes share one record, so one 304 response makes all of them fresh again. Each image has its record
/// as its provenance. This class is thread-safe.
final class OriginalInfo: Sendable {
    let digest: ContentDigest
    /// The size of the original data in bytes.
    let byteCount: Int
    private struct State {
        var head: StoredResponseHead?
        /// A Boolean value that indicates whether header fields of the request selected the response.
        var isNegotiated: Bool
        /// A Boolean value that indicates whether the data comes only from an alternative without an HTTP response.
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

    /// A Boolean value that indicates whether the data comes only from an alternative without an HTTP response, such as
    /// a file. It would never become stale, so it must not be stored for the URL of the request.
    var isSubstitute: Bool { state.withLock { $0.isSubstitute } }

    /// Records that the source of the request itself returned this data.
    func recordSource() { state.withLock { $0.isSubstitute = false } }

    /// The response head of the last response that contained or revalidated this data.
    var head: StoredResponseHead? { state.withLock { $0.head } }

    /// A Boolean value that indicates whether header fields of the request selected the response (Vary).
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

    /// Discards the time span in which the data is known to be fresh, so that the next request evaluates the rules.
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
    /// The record of the image's data, or `nil` for an image without one.
    var originalInfo: OriginalInfo? { provenance as? OriginalInfo }
}

/// The records of images in use, by the key of their data. This class is thread-safe.
final class OriginalInfoRegistry: Sendable {
    private let records = Lock(WeakTable<CacheKey, OriginalInfo, Void>())

    /// Returns the record of this data: an updated existing record that images already refer to, or a new one.
    /// `isSubstitute` indicates that the data comes from an alternative without an HTTP response.
    func record(
        for key: CacheKey, _ data: Data, head: StoredResponseHead?, isSubstitute: Bool = false
    ) -> OriginalInfo {
        let digest = ContentDigest(of: data)
        let fresh = OriginalInfo(
            digest: digest, byteCount: data.count, head: head, isSubstitute: isSubstitute)
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

/// The original data that requests are using, by key.
///
/// A request that was made before a load finished can use the loaded data, regardless of when it looks the data up. For
/// this purpose, the newest data is retained while any request runs. Images decoded from the data aren't retained. This
/// class is thread-safe.
final class InFlightOriginals: Sendable {
    private struct State {
        var originals = WeakTable<CacheKey, OriginalData, Void>()
        var running = 0
        /// The retained data, oldest first.
        var retained: [OriginalData] = []
        var retainedBytes = 0

        /// Retains `original` and returns the data that is released in exchange.
        mutating func retain(_ original: OriginalData) -> ArraySlice<OriginalData> {
            // An image that the application created has no data.
            guard running > 0, original.image == nil, original.data.count <= retainedLimit / 4 else { return [] }
            retained.append(original)
            retainedBytes += original.data.count
            var leaving = 0
            while retainedBytes > retainedLimit {
                retainedBytes -= retained[leaving].data.count
                leaving += 1
            }
            let released = retained[..<leaving]
            retained.removeFirst(leaving)
            return released
        }
    }

    /// The maximum size of the retained data, in bytes.
    private static let retainedLimit = 4 << 20

    private let state = Lock(State())

    /// Registers a new request.
    func enter() { state.withLock { $0.running += 1 } }

    /// Removes a finished request.
    func leave() {
        let released = state.withLock { state -> [OriginalData] in
            state.running -= 1
            guard state.running == 0 else { return [] }
            defer {
                state.retained = []
                state.retainedBytes = 0
            }
            return state.retained
        }
        // Release the data after unlocking.
        withExtendedLifetime(released) {}
    }

    /// The number of running requests.
    var requestCount: Int { state.withLock { $0.running } }

    /// Returns the data for `key` that is in use and was requested after the last removal of the key.
    func original(for key: CacheKey, _ generation: CacheGeneration) -> OriginalData? {
        let original = state.withLock { $0.originals[key]?.object }
        return original?.generation == generation ? original : nil
    }

    /// Adds data that arrived for `key`.
    func add(_ original: OriginalData, for key: CacheKey) {
        let released = state.withLock { state -> ArraySlice<OriginalData> in
            state.originals.insert(original, for: key)
            return state.retain(original)
        }
        withExtendedLifetime(released) {}
    }
}
