// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The key that identifies a decoded image before its data is known.
struct IncrementalDecodeKey: Hashable, Sendable {
    let decoded: CacheKey
    let limits: ImageLimits

    init(_ plan: RequestPlan) {
        decoded = plan.keys.decoded
        limits = plan.limits
    }
}

/// A decoder that processes the data of a download as it arrives, so that little work remains after the last byte.
///
/// If anything goes wrong, the file is decoded as a whole, so this decoder can only save time. Only one thread uses it
/// at a time. This class is thread-safe.
final class IncrementalDecode: Sendable {
    private struct State {
        var decoder: (any ProgressiveImageDecoder)?
        var charge: MemoryReservation?
        /// The header, as parsed from the beginning of the file.
        var probe: ImageInfo?
        /// The chunks that the decoder has received. The complete data must begin with them.
        var parts: [(count: Int, digest: ContentDigest)] = []
        var receivedByteCount = 0
        /// The number of bytes that are needed to parse the header.
        var needed = 1
        var duration = Duration.zero
        var isBusy = false
        var isFinished = false
        /// The error of a thread that doesn't respond and still uses the decoder.
        var unresponsiveError: ImageError?

        /// Claims the decoder for one thread. Returns `false` if another thread uses it or it has ended.
        mutating func beginUse() -> Bool {
            defer { isBusy = true }
            return !isBusy && !isFinished
        }

        mutating func end() -> (any ProgressiveImageDecoder)? {
            defer {
                isFinished = true
                decoder = nil
                charge = nil
                parts = []
            }
            return decoder
        }
    }

    let plan: RequestPlan
    private let options: ImageDecodingOptions
    private let state = Lock(State())

    init(_ plan: RequestPlan) {
        self.plan = plan
        var options = plan.request.hintedOptions
        if options.frames == .all { options.frames = .first }
        self.options = options
    }

    static func suits(_ plan: RequestPlan) -> Bool {
        let options = plan.request.decoding
        guard !options.preservesBitDepth, options.color == .sRGB, !options.keepsGamut,
            options.dynamicRange == .standard, !options.allowsPartialData
        else { return false }
        guard options.frames == .all || options.frames == .first else { return false }
        return plan.request.coder == nil && !plan.isLocal
    }

    /// The subject for the watchdog, or `nil` if the format is still unknown.
    var subject: String? { state.withLock { $0.probe?.format.rawValue } }
    /// The work of another process that decodes the data, or `nil` if this process does it or the format is still unknown.
    var remoteWork: RemoteWork? { plan.coders.remoteWork(decoding: state.withLock { $0.probe?.format }) }

    var isFinished: Bool { state.withLock { $0.isFinished } }
    /// The error of a thread that doesn't respond, in which case the data must not be given to another thread.
    var unresponsiveError: ImageError? { state.withLock { $0.unresponsiveError } }

    /// Records that a thread with this decoder doesn't respond.
    func lose(_ error: ImageError) { state.withLock { if $0.isBusy { $0.unresponsiveError = error } } }

    var receivedByteCount: Int { state.withLock { $0.receivedByteCount } }

    /// This method blocks, so call it on a worker thread.
    ///
    /// `expected` is `nil` if the size of the file is unknown. Returns `false` if the decoder took no data because it
    /// needs more of the beginning.
    func append(_ parts: [Data], expected: Int?, budget: PreviewBudget, context: ImageProcessingContext) -> Bool {
        let before = WorkClock.threadTime
        guard state.withLock({ $0.beginUse() }) else { return true }
        defer { state.withLock { $0.isBusy = false } }
        do throws(ImageError) {
            guard let decoder = try decoder(parts, expected, budget, context) else { return isFinished }
            for part in parts {
                try decoder.append(part, isLast: false, context: context)
                let digest = ContentDigest(of: part)
                state.withLock { state in
                    state.parts.append((part.count, digest))
                    state.receivedByteCount += part.count
                }
            }
            // The limit for one call also applies to the sum of all calls.
            let spent = WorkClock.threadTime - before
            let isTooLong = state.withLock { state in
                state.duration += spent
                return state.duration > context.limits.maxDecodingTime
            }
            if isTooLong { end() }
        } catch {
            end()
        }
        return true
    }

    /// Returns the decoder, or `nil` if it has ended or the header isn't complete.
    private func decoder(
        _ parts: [Data], _ expected: Int?, _ budget: PreviewBudget, _ context: ImageProcessingContext
    ) throws(ImageError) -> (any ProgressiveImageDecoder)? {
        let (known, needed, isOver) = state.withLock { ($0.decoder, $0.needed, $0.isFinished) }
        if isOver || known != nil { return known }
        let prefix = parts.count == 1 ? parts[0] : parts.reduce(into: Data()) { $0 += $1 }
        guard prefix.count >= needed else { return nil }
        var charge: MemoryReservation?
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

    /// This method blocks, so call it on a worker thread. The decoder can't be used afterward.
    ///
    /// The header is compared with that of the beginning because the orientation can be stored at the end of the file.
    /// Returns `nil` if the file must be decoded as a whole.
    func finish(_ data: Data, probe: ImageInfo?, context: ImageProcessingContext) throws(ImageError) -> DecodedImage? {
        let (isFree, decoder, parts, given, known) = state.withLock { state in
            (state.beginUse(), state.decoder, state.parts, state.receivedByteCount, state.probe)
        }
        defer { end() }
        // Don't wait for a loader that sends reports after its end.
        guard isFree, let decoder, let known, known == probe, given > 0, given <= data.count,
            Self.begins(data, with: parts)
        else { return nil }
        do throws(ImageError) {
            try decoder.append(data.dropFirst(given), isLast: true, context: context)
            guard let preview = try decoder.makePreview(context: context), preview.isComplete,
                !preview.image.metadata.isPartial, !preview.image.metadata.isInk
            else { return nil }
            try context.limits.check(result: preview.image)
            return preview.image
        } catch {
            if error == .cancelled { throw error }
            return nil
        }
    }

    /// Releases the memory. The file is then decoded as a whole.
    func end() {
        state.discard { $0.end() }
    }

    /// The data that a loader reports can differ from the result of a custom interceptor.
    private static func begins(_ data: Data, with parts: [(count: Int, digest: ContentDigest)]) -> Bool {
        var start = data.startIndex
        for part in parts {
            guard ContentDigest(of: data[start..<start + part.count]) == part.digest else { return false }
            start += part.count
        }
        return true
    }

    /// Returns whether incremental decoding produces exactly the same pixels. This applies only to still images.
    ///
    /// Files that may be animated are decoded as a whole. The same applies to files whose previews have only
    /// approximate colors: those with 16 bits per sample, WebP files with ICC profiles, and PNG files whose colors are
    /// converted after alpha premultiplication.
    private static func suits(_ probe: ImageInfo, _ prefix: Data) -> Bool {
        guard probe.frameCount == 1, probe.frameCountIsExact, probe.bitDepth <= 8 else { return false }
        switch probe.format {
        case .jpeg, .bmp: return true
        case .webp: return !probe.hasICCProfile
        case .png:
            return !mayContain(["gAMA", "cHRM", "iCCP", "cICP"], prefix)
                || !probe.hasAlpha && !mayContain(["tRNS"], prefix)
        default: return false
        }
    }

    /// Returns whether the beginning of the file may contain one of these chunks. An unnecessary match only costs time.
    private static func mayContain(_ chunks: [String], _ prefix: Data) -> Bool {
        chunks.contains { prefix.range(of: Data($0.utf8)) != nil }
    }

    /// Returns the estimated memory of the decoder in bytes, including its result.
    private static func bytes(_ probe: ImageInfo, _ options: ImageDecodingOptions) -> Int {
        guard let area = probe.storedSize.area, area < 1 << 40 else { return .max }
        // The decoder retains the image and its resized copy, and for progressive JPEG files also the coefficients.
        guard probe.format == .jpeg || probe.format == .webp,
            let output = try? options.size?.plan(for: probe.size, scale: options.scale).output.area
        else { return area * (probe.format == .jpeg && probe.isProgressive ? 14 : 8) }
        // libwebp retains the pixels of lossless images, which it doesn't reduce.
        if probe.isLosslessWebP { return area * 12 }
        let reducesLess = probe.format == .webp || probe.detail != .ordinary
        return min(area * 8, output * (reducesLess ? 80 : 40)) + (probe.isProgressive ? area * 6 : 0)
    }
}

extension ImageMetadata {
    /// Whether the file has CMYK colors with an ICC profile (ICC.1, 7.2.6). Incremental decoding doesn't convert rows
    /// with this profile.
    fileprivate var isInk: Bool { iccProfile.map { $0.dropFirst(16).prefix(4).elementsEqual("CMYK".utf8) } ?? false }
}
