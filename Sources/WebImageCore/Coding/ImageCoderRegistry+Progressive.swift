// SPDX-License-Identifier: MIT

import Foundation

extension ImageCoderRegistry {
    /// Returns a decoder for data that's still being received, or `nil` if previews aren't available for it or if
    /// `prefix` doesn't contain the whole header. The claims of the header are checked before the decoder is created.
    ///
    /// This method blocks for a short time.
    ///
    /// - Parameters:
    ///   - prefix: The first bytes of the file. Also append them to the decoder.
    ///   - options: The decoding options. The decoder shows only the first frame.
    ///   - context: The limits and the cancellation. The default has the limits ``ImageLimits/desktop``.
    /// - Throws: ``ImageError/decoding(_:)`` if the header is invalid, or ``ImageError/limitExceeded(_:)``.
    public func makeProgressiveDecoder(
        for prefix: Data, options: ImageDecodingOptions = ImageDecodingOptions(),
        context: ImageProcessingContext = ImageProcessingContext()
    ) throws(ImageError) -> (any ProgressiveImageDecoder)? {
        guard !prefix.isEmpty,
            case .decoder(let decoder, _) = try progressiveStart(prefix, options: options, context: context)
        else { return nil }
        return decoder
    }

    /// Returns a progressive decoder for the file that begins with `prefix`. The claims of the header are checked
    /// before the decoder is created.
    ///
    /// - Parameters:
    ///   - prefix: The first bytes of the file, at least one. Also pass them to the decoder.
    ///   - encodedBytes: The size of the whole file in bytes, or `nil` if it isn't known.
    ///   - growsAnimations: Whether the previews of an animation have all frames that were received until then, if the
    ///     coder supports it. The default is `false`, so they show the first frame.
    ///   - admits: A function that receives the header before a decoder is created. If it returns `false`, the result
    ///     is ``ProgressiveStart/unavailable``.
    /// - Throws: An ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
    package func progressiveStart(
        _ prefix: Data, encodedBytes: Int? = nil, options: ImageDecodingOptions = ImageDecodingOptions(),
        growsAnimations: Bool = false, context: ImageProcessingContext,
        where admits: (ImageInfo) -> Bool = { _ in true }
    ) throws(ImageError) -> ProgressiveStart {
        let limits = context.limits
        try limits.check(encodedBytes: max(prefix.count, encodedBytes ?? 0))
        switch options.frames {
        case .all, .first, .index(0): break
        case .index, .range, .indices: return .unavailable
        }
        let probe: ImageInfo
        switch ImageInfo.probe(prefix, isComplete: false) {
        case .found(let found): probe = found
        case .needsMore(let count): return .needsMore(byteCount: max(count, prefix.count + 1))
        case .failed(let error): throw error
        }
        // Like the complete decode, previews of formats without color information remain sRGB.
        var options = options
        if options.color == .displayP3, !probe.format.hasConvertibleColors { options.color = .sRGB }
        let first = prefix.prefix(64)
        let coder = coders.last { $0.canDecode(probe.format, prefix: first) }
        // Without the file size, the plausibility can't be checked.
        try limits.check(
            probe, encodedBytes: encodedBytes ?? .max, frames: .first,
            requirements: coder?.requirementsIfReducing(probe, options, isIncremental: true))
        guard let coder, (coder as? any PreviewInspectingCoder)?.mayHavePreviews(prefix) ?? true, admits(probe) else {
            return .unavailable
        }
        if growsAnimations, limits.maxFrames > 1, let coder = coder as? any GrowingAnimationCoder,
            let decoder = try coder.makeGrowingDecoder(info: probe, options: options, context: context)
        {
            return .decoder(decoder, probe)
        }
        let decoder = try coder.makeProgressiveDecoder(info: probe, options: options, context: context)
        return decoder.map { .decoder($0, probe) } ?? .unavailable
    }
}
