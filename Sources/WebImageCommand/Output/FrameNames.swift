// SPDX-License-Identifier: MIT

/// Names of files with one frame each: `%d` is the frame's number, `%3d` and `%03d` the same with zeros in front.
package struct FrameNames: Sendable, Hashable {
    private let before: String
    private let after: String
    private let width: Int

    /// Nil where `pattern` has no place for a number.
    package init?(_ pattern: String) {
        var search = pattern[...]
        while let percent = search.firstIndex(of: "%") {
            let rest = pattern[pattern.index(after: percent)...]
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            if digits.count <= 2, rest.dropFirst(digits.count).first == "d" {
                before = String(pattern[..<percent])
                after = String(rest.dropFirst(digits.count + 1))
                width = Int(digits) ?? 0
                return
            }
            search = rest
        }
        return nil
    }

    /// The name for frame `index`.
    package func name(_ index: Int) -> String {
        let digits = String(index)
        return before + String(repeating: "0", count: max(0, width - digits.count)) + digits + after
    }
}
