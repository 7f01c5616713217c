// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore

/// The key of a preview. Previews with equal keys use the same decoding and the same policy.
struct PreviewKey: Hashable, Sendable {
    let decoded: CacheKey
    let limits: Limits
    let policy: PreviewPolicy

    init(_ plan: RequestPlan) {
        decoded = plan.keys.decoded
        limits = plan.limits
        policy = plan.request.preview
    }
}

/// The state that produces the previews of one download for one key. It's a value, so its user works with a copy and
/// then stores the copy.
struct PreviewMaker: Sendable {
    /// The received data of a download.
    struct Bytes: Sendable {
        /// The chunks of the body, in order.
        var parts: [Data] = []
        var received = 0
        /// The size of the body in bytes, or `nil` if the server doesn't report it.
        var expected: Int?

        /// The received fraction, from 0 to 1, or `nil` if the size is unknown.
        var fraction: Double? { expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 } }
    }

    let key: PreviewKey
    private let options: DecodeOptions
    private var decoder: (any ProgressiveDecoder)?
    private var probe: ImageProbe?
    private var charge: PreviewCharge?
    /// The number of chunks that the decoder has received.
    private var given = 0
    /// The number of bytes that are needed before the next attempt.
    private var needed = 1
    /// A Boolean value that indicates whether the download has no further previews.
    private(set) var isOver = false
    /// The number of bytes that were available at the last attempt.
    private var seen = 0
    private var shown = 0
    private var lastShown: Double?

    init(_ plan: RequestPlan) {
        key = PreviewKey(plan)
        var options = plan.request.decodeOptions
        if options.frames == .all { options.frames = .first }
        self.options = options
    }

    /// Returns whether a preview is due at `time`, which is in seconds.
    func isDue(_ bytes: Bytes, latest: Double, at time: Double) -> Bool {
        guard !isOver, bytes.received >= needed, bytes.received > seen else { return false }
        if let fraction = bytes.fraction, fraction >= latest { return false }
        return lastShown.map { time - $0 >= key.policy.minimumInterval } ?? true
    }

    /// Records that a preview was delivered at `time`.
    mutating func showed(at time: Double) {
        shown += 1
        lastShown = time
    }

    /// The estimated size of the pixels that the next preview needs, in bytes.
    var cost: Int { probe.map { Self.bytes($0) } ?? 0 }

    /// Passes the received data to the decoder and makes a preview. An error only ends the previews.
    ///
    /// This method blocks, so call it on a worker thread.
    ///
    /// - Returns: A new preview without the transformers applied, or `nil` if there's none.
    mutating func make(_ bytes: Bytes, coders: CoderRegistry, budget: PreviewBudget, context: CodingContext) -> Image? {
        seen = bytes.received
        do throws(ImageError) {
            if decoder == nil { try start(bytes, coders, budget, context) }
            guard let decoder else { return nil }
            for part in bytes.parts.dropFirst(given) { try decoder.append(part, isLast: false, context: context) }
            given = bytes.parts.count
            guard let preview = try decoder.preview(context: context) else { return nil }
            try context.limits.check(result: preview.image)
            guard key.policy.style == .blurred else { return preview.image }
            guard preview.coversPicture else { return nil }
            let radius = PreviewBlur.radius(fraction: bytes.fraction, shown: shown)
            return try PreviewBlur.apply(radius, to: preview.image, context: context)
        } catch {
            end()
            return nil
        }
    }

    private mutating func start(
        _ bytes: Bytes, _ coders: CoderRegistry, _ budget: PreviewBudget, _ context: CodingContext
    ) throws(ImageError) {
        let prefix = bytes.parts.count == 1 ? bytes.parts[0] : bytes.parts.reduce(into: Data()) { $0 += $1 }
        var charge: PreviewCharge?
        let start = try coders.progressiveStart(
            prefix, encodedBytes: bytes.expected, options: options, context: context
        ) { probe in
            guard key.policy.style != .blurred || probe.isProgressive && [.jpeg, .png, .apng].contains(probe.format)
            else { return false }
            charge = budget.charge(Self.bytes(probe))
            return charge != nil
        }
        switch start {
        case .needsMore(let count): needed = count
        case .unavailable: end()
        case .decoder(let made, let found):
            decoder = made
            probe = found
            self.charge = charge
        }
    }

    private mutating func end() {
        isOver = true
        decoder = nil
        charge = nil
    }

    /// Returns the size of the full image in bytes. Decoders retain it until the download ends.
    private static func bytes(_ probe: ImageProbe) -> Int {
        let bytes = (probe.rawSize.area ?? .max).multipliedReportingOverflow(by: 4)
        return bytes.overflow ? .max : bytes.partialValue
    }
}

/// The budget for the pixels that the decoders of all running downloads retain, in bytes.
final class PreviewBudget: Sendable {
    private let limit: Int
    fileprivate let used = Atomic<Int>(0)

    init(limit: Int) { self.limit = limit }

    /// Reserves bytes until the result is deallocated. Returns `nil` if the budget is insufficient.
    func charge(_ bytes: Int) -> PreviewCharge? {
        guard bytes >= 0, bytes <= limit else { return nil }
        guard used.add(bytes, ordering: .relaxed).newValue <= limit else {
            used.subtract(bytes, ordering: .relaxed)
            return nil
        }
        return PreviewCharge(self, bytes)
    }

    /// The number of bytes that are currently reserved.
    var bytesInUse: Int { used.load(ordering: .relaxed) }
}

/// A reservation of bytes for the lifetime of this object.
final class PreviewCharge: Sendable {
    private let budget: PreviewBudget
    private let bytes: Int

    fileprivate init(_ budget: PreviewBudget, _ bytes: Int) {
        self.budget = budget
        self.bytes = bytes
    }

    deinit { budget.used.subtract(bytes, ordering: .relaxed) }
}
