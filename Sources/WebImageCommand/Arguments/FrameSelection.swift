// SPDX-License-Identifier: MIT

import WebImageCore

/// Frames of an animation as `--frames` names them: numbers and ranges from 0 with commas between them, `2,5,8-12`. A
/// range without an end goes to the last frame, one that falls goes backwards.
package struct FrameSelection: Sendable, Hashable {
    private struct Part: Hashable {
        var first: Int
        /// Nil is the last frame.
        var last: Int?
    }

    private var parts: [Part] = []

    /// - Throws: what is wrong with `text`.
    package init(_ text: String) throws(UsageError) {
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = piece.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = ends.first.flatMap(Self.number) else { throw Self.misunderstood(text) }
            guard ends.count == 2 else {
                parts.append(Part(first: first, last: first))
                continue
            }
            let last = Self.number(ends[1])
            guard last != nil || ends[1].isEmpty else { throw Self.misunderstood(text) }
            parts.append(Part(first: first, last: last))
        }
    }

    /// The indices in an animation of `count` frames, in the order in which they were named.
    ///
    /// - Throws: ``RequestError/noSuchFrame(index:count:)``.
    package func indices(count: Int) throws(ImageError) -> [Int] {
        var indices: [Int] = []
        for part in parts {
            let last = part.last ?? max(part.first, count - 1)
            for index in [part.first, last] where index >= count {
                throw .request(.noSuchFrame(index: index, count: count))
            }
            indices += part.first <= last ? Array(part.first...last) : (last...part.first).reversed()
        }
        return indices
    }

    private static func number(_ text: Substring) -> Int? {
        text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
    }

    private static func misunderstood(_ text: String) -> UsageError {
        UsageError("--frames takes numbers and ranges from 0, as in 0-9 or 2,5,8-, not “\(text)”")
    }
}

extension Arguments {
    /// The frames of `--frames`; nil where it was not given.
    ///
    /// - Throws: what is wrong with it, or that `--frame` was given too.
    package func frameSelection() throws(UsageError) -> FrameSelection? {
        guard let text = last("frames") else { return nil }
        guard last("frame") == nil else { throw UsageError("--frame and --frames exclude each other") }
        return try FrameSelection(text)
    }
}
