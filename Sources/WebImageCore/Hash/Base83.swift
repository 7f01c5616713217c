// SPDX-License-Identifier: MIT

/// The digits of BlurHash: 83 characters that need no escape in JSON, HTML and shells' single quotes.
enum Base83 {
    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
    private static let values = Dictionary(uniqueKeysWithValues: alphabet.enumerated().map { ($1, $0) })

    /// The value of each character. Reads no more than the longest hash has.
    static func digits(_ text: String) throws(HashError) -> [Int] {
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

    /// `count` digits of `number`, the most significant first.
    static func digits(_ number: Int, count: Int) -> [Int] {
        var rest = number
        return (0..<count).map { _ in
            defer { rest /= 83 }
            return rest % 83
        }.reversed()
    }

    static func text(_ digits: [Int]) -> String { String(digits.map { alphabet[$0] }) }
}
