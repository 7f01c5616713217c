// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// What makes two pictures one before their bytes are known.
struct StreamKey: Hashable, Sendable {
    let decoded: CacheKey
    let limits: Limits

    init(_ plan: RequestPlan) {
        decoded = plan.keys.decoded
        limits = plan.limits
    }
}

/// A decoder that takes a download's bytes as they come, so that little is left to do after the last one. Whatever goes
/// wrong with it, the file is decoded as a whole: it may save time and nothing else. Used by one thread at a time;
/// thread-safe.
final class StreamedDecode: Sendable {
    private struct State {
        var decoder: (any ProgressiveDecoder)?
        var charge: PreviewCharge?
        /// The header as the beginning tells it.
        var probe: ImageProbe?
        /// What the decoder has: the bytes that are decoded in the end must begin with them.
        var parts: [(count: Int, digest: ContentDigest)] = []
        var given = 0
        /// Bytes that must be there before the header can be read.
        var needed = 1
        var seconds = 0.0
        /// Whether a thread gives it something now.
        var isBusy = false
        var isOver = false

        /// One at a time.
        mutating func beginUse() -> Bool {
            defer { isBusy = true }
            return !isBusy && !isOver
        }

        /// Gives everything back.
        mutating func end() -> (any ProgressiveDecoder)? {
            defer {
                isOver = true
                decoder = nil
                charge = nil
                parts = []
            }
            return decoder
        }
    }

    let plan: RequestPlan
    private let options: DecodeOptions
    private let state = Lock(State())

    init(_ plan: RequestPlan) {
        self.plan = plan
        var options = plan.request.hintedOptions
        if options.frames == .all { options.frames = .first }
        self.options = options
    }

    /// Whether pictures that are decoded piece by piece can be those that `plan` wants.
    static func suits(_ plan: RequestPlan) -> Bool {
        let options = plan.request.decoding
        guard options.depth == .eight, options.color == .sRGB, !options.allowsPartial else { return false }
        if case .single = options.frames { return false }
        return plan.request.coder == nil && !plan.isLocal
    }

    var isOver: Bool { state.withLock { $0.isOver } }
    /// Bytes the decoder has taken.
    var givenCount: Int { state.withLock { $0.given } }

    /// Gives the decoder what came. Blocks; for a worker thread.
    ///
    /// - Parameters:
    ///   - parts: the bytes behind those given before.
    ///   - expected: size of the whole; nil where it is not known.
    /// - Returns: false where nothing was taken because more of the beginning is needed.
    func append(_ parts: [Data], expected: Int?, budget: PreviewBudget, context: CodingContext) -> Bool {
        let before = ContinuousClock.now
        guard state.withLock({ $0.beginUse() }) else { return true }
        defer { state.withLock { $0.isBusy = false } }
        do throws(ImageError) {
            guard let decoder = try decoder(parts, expected, budget, context) else { return isOver }
            for part in parts {
                try decoder.append(part, isLast: false, context: context)
                let digest = ContentDigest(of: part)
                state.withLock { state in
                    state.parts.append((part.count, digest))
                    state.given += part.count
                }
            }
            // Each call has a time limit of its own; so has their sum.
            let spent = before.duration(to: .now) / .seconds(1)
            let isTooLong = state.withLock { state in
                state.seconds += spent
                return state.seconds > context.limits.maxSeconds
            }
            if isTooLong { end() }
        } catch {
            end()
        }
        return true
    }

    /// The decoder; nil where there is none (any more) or the header is not whole.
    private func decoder(
        _ parts: [Data], _ expected: Int?, _ budget: PreviewBudget, _ context: CodingContext
    ) throws(ImageError) -> (any ProgressiveDecoder)? {
        let (known, needed, isOver) = state.withLock { ($0.decoder, $0.needed, $0.isOver) }
        if isOver || known != nil { return known }
        let prefix = parts.count == 1 ? parts[0] : parts.reduce(into: Data()) { $0 += $1 }
        guard prefix.count >= needed else { return nil }
        var charge: PreviewCharge?
        let start = try plan.coders.progressiveStart(
            prefix, encodedBytes: expected, options: options, context: context
        ) { probe in
            guard Self.suits(probe, prefix) else { return false }
            charge = budget.charge(Self.bytes(probe, options))
            return charge != nil
        }
        switch start {
        case .unavailable: end()
        case .needsMore(let count): state.withLock { $0.needed = count }
        case .decoder(let decoder, let probe):
            state.withLock { state in
                state.decoder = decoder
                state.probe = probe
                state.charge = charge
            }
            return decoder
        }
        return nil
    }

    /// The finished picture of `data`; nil where it has to be decoded as a whole. Blocks; for a worker thread. The decoder
    /// is of no use after that.
    ///
    /// - Parameter probe: the header as the whole file tells it: what turns a picture may stand at its end.
    /// - Throws: ``RequestError/cancelled``.
    func finish(_ data: Data, probe: ImageProbe?, context: CodingContext) throws(ImageError) -> Image? {
        let (isFree, decoder, parts, given, known) = state.withLock { state in
            (state.beginUse(), state.decoder, state.parts, state.given, state.probe)
        }
        defer { end() }
        // A loader that goes on reporting after its end is not waited for.
        guard isFree, let decoder, let known, known == probe, given > 0, given <= data.count,
            Self.begins(data, with: parts)
        else { return nil }
        do throws(ImageError) {
            try decoder.append(data.dropFirst(given), isLast: true, context: context)
            guard let preview = try decoder.preview(context: context), preview.isComplete,
                !preview.image.metadata.isPartial, !preview.image.metadata.isInk
            else { return nil }
            try context.limits.check(result: preview.image)
            return preview.image
        } catch {
            if error.isCancelled { throw error }
            return nil
        }
    }

    /// Gives memory back; the file is decoded as a whole.
    func end() {
        // Released after the lock: a decoder takes its time to go.
        let decoder = state.withLock { $0.end() }
        withExtendedLifetime(decoder) {}
    }

    /// Whether `data` is what was given: what a loader reports may not be what an app's interceptor made of it.
    private static func begins(_ data: Data, with parts: [(count: Int, digest: ContentDigest)]) -> Bool {
        var start = data.startIndex
        for part in parts {
            guard ContentDigest(of: data[start..<start + part.count]) == part.digest else { return false }
            start += part.count
        }
        return true
    }

    /// Stills whose pixels do not depend on how they come. What may turn out to be an animation is decoded as a whole, and so
    /// are those of which previews have the colours only nearly: 16 bits a sample, profiles of WebP, and colours of PNG that
    /// alpha has been multiplied into before they are converted.
    private static func suits(_ probe: ImageProbe, _ prefix: Data) -> Bool {
        guard probe.frameCount == 1, probe.frameCountIsExact, probe.depth <= 8 else { return false }
        switch probe.format {
        case .jpeg, .bmp: return true
        case .webp: return !probe.hasICCProfile
        case .png:
            return !tells(["gAMA", "cHRM", "iCCP", "cICP"], prefix) || !probe.hasAlpha && !tells(["tRNS"], prefix)
        default: return false
        }
    }

    /// Whether one of these chunks may stand before the pixels. One too many costs nothing but time.
    private static func tells(_ chunks: [String], _ prefix: Data) -> Bool {
        chunks.contains { prefix.range(of: Data($0.utf8)) != nil }
    }

    /// Bytes that the decoder is going to hold, its result included.
    private static func bytes(_ probe: ImageProbe, _ options: DecodeOptions) -> Int {
        guard let area = probe.rawSize.area, area < 1 << 40 else { return .max }
        // The picture and the copy of it that is brought to size; of a JPEG in several scans also its coefficients.
        guard probe.format == .jpeg || probe.format == .webp,
            let output = try? options.size?.plan(for: probe.size, scale: options.scale).output.area
        else { return area * (probe.format == .jpeg && probe.isProgressive ? 14 : 8) }
        return min(area * 8, output * 40) + (probe.isProgressive ? area * 6 : 0)
    }
}

extension ImageMetadata {
    /// Whether the file has colours of ink and says which (ICC.1, 7.2.6): rows are converted by that profile only when the
    /// file is decoded as a whole.
    fileprivate var isInk: Bool { iccProfile.map { $0.count > 19 && $0[16..<20].elementsEqual("CMYK".utf8) } ?? false }
}
