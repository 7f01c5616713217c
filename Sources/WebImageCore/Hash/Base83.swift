// SPDX-License-Identifier: MIT

/// The digits of BlurHash: 83 characters that don't need to be escaped in JSON, in HTML, and in single quotes of
/// shells.
enum Base83 {
    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
    private static let values = Dictionary(uniqueKeysWithValues: alphabet.enumerated().map { ($1, $0) })

    /// Returns the value of each character. This function reads at most the length of the longest hash.
    static func digits(_ text: String) throws(PlaceholderHashError) -> [Int] {
        let longest = 4 + 2 * 81
        var digits: [Int] = []
        for (place, character) in text.prefix(longest + 1).enumerated() {
            guard let value = values[character] else { throw .digit(character, at: place) }
            digits.append(value)
        }
        guard digits.count <= longest else { throw .length(expected: longest, actual: text.count) }
        return digits
    }

    static func number(_ digits: ArraySlice<Int>) -> Int { digits.reduce(0) { $0 * 83 + $1 } }

    /// Returns `count` digits of `number`, with the most significant digit first.
    static func digits(_ number: Int, count: Int) -> [Int] {
        var rest = number
        return (0..<count).map { _ in
            defer { rest /= 83 }
            return rest % 83
        }.reversed()
    }

    static func text(_ digits: [Int]) -> String { String(digits.map { alphabet[$0] }) }
}
