// SPDX-License-Identifier: MIT

import Foundation

extension CoderRegistry {
    /// A decoder for the file that begins with `prefix`. What the header claims is checked before a decoder is made.
    ///
    /// - Parameters:
    ///   - prefix: the first bytes of the file, at least one; the decoder is to be given them too.
    ///   - encodedBytes: size of the whole file where it is known.
    ///   - admits: asked with the header before a decoder is made; false for ``ProgressiveStart/unavailable``.
    /// - Throws: families 4xxx and 6xxx.
    public func progressiveStart(
        _ prefix: Data, encodedBytes: Int? = nil, options: DecodeOptions = DecodeOptions(), context: CodingContext,
        where admits: (ImageProbe) -> Bool = { _ in true }
    ) throws(ImageError) -> ProgressiveStart {
        let limits = context.limits
        try limits.check(encodedBytes: max(prefix.count, encodedBytes ?? 0))
        if case .single(let index) = options.frames, index != 0 { return .unavailable }
        let probe: ImageProbe
        switch ImageProbe.probe(prefix, isComplete: false) {
        case .found(let found): probe = found
        case .needsMore(let count): return .needsMore(byteCount: max(count, prefix.count + 1))
        case .failed(let error): throw error
        }
        // How small the whole file may be is known only where its size is.
        try limits.check(probe, encodedBytes: encodedBytes ?? .max, frames: .first)
        guard admits(probe) else { return .unavailable }
        for coder in coders.reversed() where coder.canDecode(probe.format, prefix: prefix.prefix(64)) {
            let decoder = try coder.progressiveDecoder(probe: probe, options: options, context: context)
            return decoder.map { .decoder($0, probe) } ?? .unavailable
        }
        return .unavailable
    }
}
