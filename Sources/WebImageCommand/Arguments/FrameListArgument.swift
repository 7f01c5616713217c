// SPDX-License-Identifier: MIT

import WebImageCore

/// The frames that `--frames` selects, such as `2,5,8-12`.
///
/// The text consists of numbers and ranges, which start at 0 and are separated by commas. A range without an end
/// extends to the last frame. A range whose end is less than its start is played backward.
package struct FrameListArgument: Sendable, Hashable {
    private struct Part: Hashable {
        var first: Int
        /// The last frame of the range, or `nil` for the last frame of the animation.
        var last: Int?
    }

    private var parts: [Part] = []

    /// Parses a selection. Throws a ``UsageError`` if `text` isn't valid.
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

    /// Returns the selected indices of an animation with `count` frames, in the order of the selection. Throws
    /// ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
    package func indices(count: Int) throws(ImageError) -> [Int] {
        var indices: [Int] = []
        for part in parts {
            let last = part.last ?? max(part.first, count - 1)
            for index in [part.first, last] where index >= count {
                throw .request(.frameNotFound(index: index, frameCount: count))
            }
            indices += part.first <= last ? Array(part.first...last) : (last...part.first).reversed()
        }
        return indices
    }

    private static func number(_ text: Substring) -> Int? {
        text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
    }

    private static func misunderstood(_ text: String) -> UsageError {
        UsageError("--frames: “\(text)” isn’t valid (use numbers and ranges from 0, such as 0-9 or 2,5,8-)")
    }
}

extension FrameListArgument {
    /// The index of the frame if the selection is a single number, or `nil` if it isn't.
    package var singleIndex: Int? {
        guard parts.count == 1, let part = parts.first, part.last == part.first else { return nil }
        return part.first
    }
}

extension Arguments {
    /// Returns the frames that `--frames` selects, or `nil` if the option wasn't specified. Throws a ``UsageError`` if
    /// the value isn't valid.
    package func frameSelection() throws(UsageError) -> FrameListArgument? {
        guard let text = last("frames") else { return nil }
        return try FrameListArgument(text)
    }
}
