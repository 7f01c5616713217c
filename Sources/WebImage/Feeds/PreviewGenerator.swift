// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// The key of a preview. Previews with equal keys use the same decoding and the same policy.
struct PreviewKey: Hashable, Sendable {
    let decoded: CacheKey
    let limits: ImageLimits
    let policy: PreviewPolicy

    init(_ plan: RequestPlan) {
        decoded = plan.keys.decoded
        limits = plan.limits
        policy = plan.request.previews
    }
}

/// The state that produces the previews of one download for one key. It's a value, so its user works with a copy and
/// then stores the copy.
struct PreviewGenerator: Sendable {
    /// The received data of a download.
    struct Bytes: Sendable {
        var parts: [Data] = []
        var received = 0
        /// The size of the body in bytes, or `nil` if the server doesn't report it.
        var expected: Int?

        /// The received fraction, from 0 to 1, or `nil` if the size is unknown.
        var fraction: Double? { expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 } }
    }

    let key: PreviewKey
    private let options: ImageDecodingOptions
    /// Blurred previews show only the first frame.
    private let growsAnimations: Bool
    private var decoder: (any ProgressiveImageDecoder)?
    /// The format of the data, or `nil` if the header isn't complete.
    private(set) var format: ImageFormat?
    private var charge: MemoryReservation?
    private var receivedChunks = 0
    private var needed = 1
    private(set) var isFinished = false
    /// The number of bytes that were available at the last attempt.
    private var seen = 0
    private var displayedCount = 0
    private var lastDisplayed: Double?

    init(_ plan: RequestPlan) {
        key = PreviewKey(plan)
        var options = plan.request.decodeOptions
        growsAnimations = options.frames == .all && key.policy.style != .blurred
        if options.frames == .all { options.frames = .first }
        self.options = options
    }

    /// Returns whether a preview is due at `time`, which is in seconds.
    func isDue(_ bytes: Bytes, latest: Double, at time: Double) -> Bool {
        guard !isFinished, bytes.received >= needed, bytes.received > seen else { return false }
        if let fraction = bytes.fraction, fraction >= latest { return false }
        return lastDisplayed.map { time - $0 >= key.policy.minimumInterval } ?? true
    }

    mutating func showed(at time: Double) {
        displayedCount += 1
        lastDisplayed = time
    }

    /// The estimated size of the pixels that the next preview needs, in bytes.
    private(set) var cost = 0

    /// An error only ends the previews. This method blocks, so call it on a worker thread.
    ///
    /// Returns a preview without the transformers applied, or `nil` if there's none.
    mutating func make(
        _ bytes: Bytes, coders: ImageCoderRegistry, budget: PreviewBudget, context: ImageProcessingContext
    )
        -> DecodedImage?
    {
        seen = bytes.received
        do throws(ImageError) {
            if decoder == nil { try start(bytes, coders, budget, context) }
            guard let decoder else { return nil }
            for part in bytes.parts.dropFirst(receivedChunks) {
                try decoder.append(part, isLast: false, context: context)
            }
            receivedChunks = bytes.parts.count
            guard let preview = try decoder.makePreview(context: context) else { return nil }
            try context.limits.check(result: preview.image)
            guard key.policy.style == .blurred else { return preview.image }
            guard preview.coversImage else { return nil }
            let radius = PreviewBlur.radius(fraction: bytes.fraction, displayedCount: displayedCount)
            return try PreviewBlur.apply(radius, to: preview.image, context: context)
        } catch {
            end()
            return nil
        }
    }

    private mutating func start(
        _ bytes: Bytes, _ coders: ImageCoderRegistry, _ budget: PreviewBudget, _ context: ImageProcessingContext
    ) throws(ImageError) {
        let prefix = bytes.parts.count == 1 ? bytes.parts[0] : bytes.parts.reduce(into: Data()) { $0 += $1 }
        // If the budget doesn't suffice for an animation, show its first frame.
        for growsAnimations in growsAnimations ? [true, false] : [false] {
            let expected = growsAnimations ? bytes.expected ?? 0 : nil
            var charge: MemoryReservation?
            // Without a declared size, assume the default limit unless the limit is lower.
            let unknown = min(context.limits.maxEncodedBytes, ImageLimits.desktop.maxEncodedBytes)
            let fileBytes = bytes.expected ?? unknown
            func retained(_ probe: ImageInfo) -> Int {
                let pixels = Self.bytes(probe, options, coders, expected)
                let sum = pixels.addingReportingOverflow(Self.retainedBytes(probe, fileBytes: fileBytes))
                return sum.overflow ? .max : sum.partialValue
            }
            let start = try coders.progressiveStart(
                prefix, encodedBytes: bytes.expected, options: options, growsAnimations: growsAnimations,
                context: context
            ) { probe in
                guard
                    key.policy.style != .blurred || probe.isProgressive && [.jpeg, .png, .apng].contains(probe.format)
                else { return false }
                charge = budget.charge(retained(probe))
                return charge != nil
            }
            switch start {
            case .needsMore(let count):
                needed = count
                return
            case .unavailable: continue
            case .decoder(let made, let found):
                decoder = made
                cost = retained(found)
                self.charge = charge
                format = found.format
                return
            }
        }
        end()
    }

    mutating func end() {
        isFinished = true
        decoder = nil
        charge = nil
    }

    /// Returns the memory in bytes that decoders of AVIF and HEIF retain in addition to the canvas: the received data
    /// and the planes of libavif. HEIF decoders show only small thumbnails.
    static func retainedBytes(_ probe: ImageInfo, fileBytes: Int) -> Int {
        switch probe.format {
        case .heif: return fileBytes
        case .avif:
            // Up to three planes and alpha.
            let planes = (probe.storedSize.area ?? .max)
                .multipliedReportingOverflow(by: probe.bitDepth > 8 ? 8 : 4)
            let sum = planes.partialValue.addingReportingOverflow(fileBytes)
            return planes.overflow || sum.overflow ? .max : sum.partialValue
        default: return 0
        }
    }

    /// Returns the memory of the decoder in bytes, which it retains until the download ends.
    ///
    /// `expected` is 0 if the size of the file is unknown, and `nil` if the decoder shows only the first frame of an
    /// animation instead of keeping its frames.
    private static func bytes(
        _ probe: ImageInfo, _ options: ImageDecodingOptions, _ coders: ImageCoderRegistry, _ expected: Int?
    ) -> Int {
        let isGrowing = expected != nil && (probe.format == .gif || probe.frameCount > 1 || !probe.frameCountIsExact)
        // A still image has the size of the full image unless the decoder reduces it.
        if !isGrowing, let requirements = coders.requirements(for: probe, options: options, isIncremental: true) {
            return requirements.byteCount
        }
        let bytes = (probe.storedSize.area ?? .max).multipliedReportingOverflow(by: 4)
        guard !bytes.overflow else { return .max }
        guard isGrowing, let expected else { return bytes.partialValue }
        // An animation needs the canvas, a copy of it for the disposal, and the poster frame.
        let whole = bytes.partialValue.multipliedReportingOverflow(by: 3)
        let sum = whole.partialValue.addingReportingOverflow(expected)
        return whole.overflow || sum.overflow ? .max : sum.partialValue
    }
}
