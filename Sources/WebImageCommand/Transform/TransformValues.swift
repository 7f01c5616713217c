// SPDX-License-Identifier: MIT

import WebImageCore

/// A parser for the values of one transformer.
struct TransformValues {
    let name: String
    let readImage: ImageFileReader
    private var rest: ArraySlice<String>

    /// Creates a parser. `text` is the text after the equals sign, or `nil` if there's no equals sign.
    init(name: String, text: String?, readImage: @escaping ImageFileReader) {
        self.name = name
        self.readImage = readImage
        rest = (text.map { $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init) } ?? [])[...]
    }

    /// Returns the next value as text, or `nil` if there's no value left.
    mutating func next() -> String? { rest.popFirst() }

    /// The next value, which isn't consumed, or `nil` if there's no value left.
    var peek: String? { rest.first }

    var hasNext: Bool { !rest.isEmpty }

    /// Returns whether the next value is one of `words`. The value isn't consumed.
    func isNext(oneOf words: [String]) -> Bool { rest.first.map { words.contains($0) } ?? false }

    var isNextNumber: Bool { rest.first.flatMap(Self.decimal) != nil }

    /// Returns the next two values as a position, in pixels.
    mutating func point() throws(TransformProblem) -> (x: Double, y: Double) {
        let range = -1_000_000.0...1_000_000
        let x = try number("x", in: range)
        return (x, try number("y", in: range))
    }

    /// Throws an error if there are values left.
    func end() throws(TransformProblem) {
        if let value = rest.first { throw .unexpected(name: name, value: value) }
    }

    /// Returns the next value as a number. If there's no value left, `fallback` is returned, or an error is thrown if
    /// it's `nil`.
    mutating func number(
        _ parameter: String, in range: ClosedRange<Double>, or fallback: Double? = nil
    ) throws(TransformProblem) -> Double {
        guard let text = next() else { return try present(fallback, parameter) }
        guard let value = Self.decimal(text), range.contains(value) else {
            let (low, high) = (Self.short(range.lowerBound), Self.short(range.upperBound))
            throw invalid(parameter, text, "a number from \(low) to \(high)")
        }
        return value
    }

    /// Returns the next value as a length in pixels, which must be greater than 0.
    mutating func length(_ parameter: String, or fallback: Double? = nil) throws(TransformProblem) -> Double {
        guard let text = next() else { return try present(fallback, parameter) }
        guard let value = Self.decimal(text), value > 0, value <= 1_000_000 else {
            throw invalid(parameter, text, "a number of pixels greater than 0, up to 1000000")
        }
        return value
    }

    /// Returns the next value as a percentage greater than 0, up to 100, or `nil` if it doesn't end with a percent sign.
    mutating func percentage(_ parameter: String) throws(TransformProblem) -> Double? {
        guard let text = rest.first, text.hasSuffix("%") else { return nil }
        rest.removeFirst()
        guard let value = Self.decimal(String(text.dropLast())), value > 0, value <= 100 else {
            throw invalid(parameter, text, "a percentage greater than 0%, up to 100%")
        }
        return value
    }

    /// Returns the next value as a color, in the form `#rgb`, `#rrggbb`, or `#rrggbbaa` or as a color name.
    mutating func color(_ parameter: String, or fallback: PixelColor? = nil) throws(TransformProblem) -> PixelColor {
        guard let text = next() else { return try present(fallback, parameter) }
        guard let color = PixelColor(text: text) else {
            throw invalid(parameter, text, "#rrggbb, #rrggbbaa, black, white, or clear")
        }
        return color
    }

    /// Returns the value for the next value, which must be one of `words`.
    mutating func word<Value>(
        _ parameter: String, of words: [(String, Value)], or fallback: Value? = nil
    ) throws(TransformProblem) -> Value {
        guard let text = next() else { return try present(fallback, parameter) }
        guard let found = words.first(where: { $0.0 == text }) else {
            throw invalid(parameter, text, "one of \(words.map(\.0).joined(separator: ", "))")
        }
        return found.1
    }

    /// Returns the value for the next value, which must be one of `names`.
    mutating func word<Value>(
        _ parameter: String, of names: ValueNames<Value>, or fallback: Value? = nil
    ) throws(TransformProblem) -> Value {
        guard let text = next() else { return try present(fallback, parameter) }
        guard let value = names[text] else {
            throw invalid(parameter, text, "one of \(names.list.joined(separator: ", "))")
        }
        return value
    }

    func invalid(_ parameter: String, _ value: String, _ expected: String) -> TransformProblem {
        .invalid(name: name, parameter: parameter, value: value, expected: expected)
    }

    private func present<Value>(_ value: Value?, _ parameter: String) throws(TransformProblem) -> Value {
        guard let value else { throw .missing(name: name, parameter: parameter) }
        return value
    }

    /// Returns a number that consists of digits, an optional sign, and an optional fraction. Other forms that `Double`
    /// accepts are rejected.
    static func decimal(_ text: String) -> Double? {
        let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let areDigits = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }
        guard (1...2).contains(parts.count), areDigits, text.utf8.count <= 32 else { return nil }
        return Double(text)
    }

    private static func short(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : "\(value)"
    }
}

extension PixelColor {
    /// Creates a color from `#rgb`, `#rrggbb`, `#rrggbbaa`, `black`, `white`, or `clear`. Returns `nil` for any other
    /// text.
    init?(text: String) {
        switch text {
        case "black": self = .black
        case "white": self = .white
        case "clear": self = .clear
        default:
            guard let color = PixelColor(hex: text) else { return nil }
            self = color
        }
    }
}
