// SPDX-License-Identifier: MIT

/// A version of a library as its project numbers it, such as `1.6.39`. Missing numbers are zero.
package struct UpstreamVersion: Sendable, Comparable {
    private let numbers: [Int]

    /// Creates a version from the numbers in a text, or returns `nil` if the text doesn’t begin with a number. Text
    /// after a character other than a digit or a dot is ignored.
    package init?(_ text: String) {
        let digits = text.prefix { ("0"..."9").contains($0) || $0 == "." }
        numbers = digits.split(separator: ".").compactMap { Int($0) }
        guard !numbers.isEmpty else { return nil }
    }

    /// The first two numbers, which identify a branch that receives fixes.
    private var branch: [Int] { (0..<2).map { numbers.count > $0 ? numbers[$0] : 0 } }

    /// Returns whether a version contains a fix that was released in several branches.
    ///
    /// A version contains the fix if it’s at least the first fixed version of its branch, or at least the newest of the
    /// fixed versions.
    package func contains(fixIn versions: [UpstreamVersion]) -> Bool {
        guard let newest = versions.max() else { return false }
        return self >= newest || versions.contains { $0.branch == branch && self >= $0 }
    }

    package static func < (left: UpstreamVersion, right: UpstreamVersion) -> Bool {
        for index in 0..<max(left.numbers.count, right.numbers.count) {
            let (a, b) = (left.number(index), right.number(index))
            if a != b { return a < b }
        }
        return false
    }

    package static func == (left: UpstreamVersion, right: UpstreamVersion) -> Bool {
        !(left < right) && !(right < left)
    }

    private func number(_ index: Int) -> Int { index < numbers.count ? numbers[index] : 0 }
}
