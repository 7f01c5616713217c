// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore

/// What makes two previews one: the same decoding under the same rules.
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

/// Makes the previews of one download for one key. A value: whoever works with it holds a copy and puts it back.
struct PreviewMaker: Sendable {
    /// What has come of a download.
    struct Bytes: Sendable {
        /// The body so far, in order.
        var parts: [Data] = []
        var received = 0
        /// Nil where the server does not tell.
        var expected: Int?

        /// 0 to 1; nil where the size is not known.
        var fraction: Double? { expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 } }
    }

    let key: PreviewKey
    private let options: DecodeOptions
    private var decoder: (any ProgressiveDecoder)?
    private var probe: ImageProbe?
    private var charge: PreviewCharge?
    /// Parts that the decoder has.
    private var given = 0
    /// Bytes that must be there before it is worth to look.
    private var needed = 1
    /// Whether there are no previews, or no more.
    private(set) var isOver = false
    /// Bytes that had come when it looked last.
    private var seen = 0
    private var shown = 0
    private var lastShown: Double?

    init(_ plan: RequestPlan) {
        key = PreviewKey(plan)
        var options = plan.request.decodeOptions
        if options.frames == .all { options.frames = .first }
        self.options = options
    }

    /// Whether a preview is to be made at `time` (seconds).
    func isDue(_ bytes: Bytes, latest: Double, at time: Double) -> Bool {
        guard !isOver, bytes.received >= needed, bytes.received > seen else { return false }
        if let fraction = bytes.fraction, fraction >= latest { return false }
        return lastShown.map { time - $0 >= key.policy.minimumInterval } ?? true
    }

    /// Notes that a preview was shown at `time`.
    mutating func showed(at time: Double) {
        shown += 1
        lastShown = time
    }

    /// Bytes of pixels the next look needs, as far as is known.
    var cost: Int { probe.map { Self.bytes($0) } ?? 0 }

    /// Gives the decoder what came. Blocks; for a worker thread. A failure ends the previews and nothing else.
    ///
    /// - Returns: a new picture, before the transformers.
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

    /// The picture in full, which decoders hold until the download ends.
    private static func bytes(_ probe: ImageProbe) -> Int {
        let bytes = (probe.rawSize.area ?? .max).multipliedReportingOverflow(by: 4)
        return bytes.overflow ? .max : bytes.partialValue
    }
}

/// Bytes of pixels that the decoders of all running previews hold.
final class PreviewBudget: Sendable {
    private let limit: Int
    fileprivate let used = Atomic<Int>(0)

    init(limit: Int) { self.limit = limit }

    /// Nil where there is no room for so many bytes.
    func charge(_ bytes: Int) -> PreviewCharge? {
        guard bytes >= 0, bytes <= limit else { return nil }
        guard used.add(bytes, ordering: .relaxed).newValue <= limit else {
            used.subtract(bytes, ordering: .relaxed)
            return nil
        }
        return PreviewCharge(self, bytes)
    }

    /// Bytes that are held now.
    var bytesInUse: Int { used.load(ordering: .relaxed) }
}

/// Bytes that are held as long as this object lives.
final class PreviewCharge: Sendable {
    private let budget: PreviewBudget
    private let bytes: Int

    fileprivate init(_ budget: PreviewBudget, _ bytes: Int) {
        self.budget = budget
        self.bytes = bytes
    }

    deinit { budget.used.subtract(bytes, ordering: .relaxed) }
}
