// SPDX-License-Identifier: MIT

/// A pattern for the names of files that contain one frame each. `%d` is replaced by the number of the frame. `%3d` and
/// `%03d` pad the number with zeros.
package struct FrameNames: Sendable, Hashable {
    private let before: String
    private let after: String
    private let width: Int

    /// Returns `nil` if `pattern` has no placeholder.
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

    /// Returns the file name for the frame at `index`.
    package func name(_ index: Int) -> String {
        let digits = String(index)
        return before + String(repeating: "0", count: max(0, width - digits.count)) + digits + after
    }
}
