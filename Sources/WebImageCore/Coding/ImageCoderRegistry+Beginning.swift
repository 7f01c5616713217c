// SPDX-License-Identifier: MIT

import Foundation

extension ImageCoderRegistry {
    /// The result of the checks of the beginning of a file.
    package enum BeginningInspection: Sendable, Hashable {
        /// More of the beginning is necessary. The number is the size of the beginning in bytes.
        case needsMore(byteCount: Int)
        /// The beginning doesn't decide, so the whole file must be checked.
        case undecided
        /// The whole file would fail with this error.
        case rejected(ImageError)
    }

    /// Checks the beginning of a file that is still being received.
    ///
    /// It rejects only data that ``inspect(_:options:limits:anySize:)`` rejects with an equal error for any remainder:
    /// data that isn't an image, and images whose width and height exceed the limits.
    ///
    /// - Parameters:
    ///   - prefix: The first bytes of the file, at least one.
    ///   - options: The decoding options. The size has no effect, because requests for any size can share the data.
    ///   - limits: The limits.
    package func inspectBeginning(
        _ prefix: Data, options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits
    ) -> BeginningInspection {
        let first = prefix.prefix(64)
        switch ImageInfo.probe(prefix, isComplete: false) {
        case .needsMore(let count): return .needsMore(byteCount: max(count, prefix.count + 1))
        case .failed(let error):
            guard case .decoding(let failure) = error, failure.isForeignData,
                !coders.contains(where: { claims($0, nil, first, options) })
            else { return .undecided }
            return .rejected(error)
        case .found(let probe):
            var judged = options
            judged.size = .fit(width: 1, height: 1)
            let coder = coders.last { $0.canDecode(probe.format, prefix: first) }
            // The smallest size that the decoder may have to hold is that of rows, if it can decode row by row.
            let requirements =
                coder?.requirementsOfRows(probe, judged) ?? coder?.requirementsIfReducing(probe, judged)
            do throws(ImageError) {
                _ = try limits.checkedArea(of: requirements?.size ?? probe.storedSize)
                try limits.checkedSourceArea(of: probe.storedSize)
                return .undecided
            } catch {
                return .rejected(error)
            }
        }
    }
}
