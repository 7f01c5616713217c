// SPDX-License-Identifier: MIT

import WebImageCore

extension Arguments {
    /// Returns the value of an option as an integer within `range`, or `nil` if the option wasn't specified.
    package func integer(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = last(option) else { return nil }
        guard let value = Int(text), range.contains(value) else {
            let bounds =
                range.upperBound == .max
                ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError("--\(option): “\(text)” isn’t valid (use a whole number \(bounds))")
        }
        return value
    }

    /// Returns the value of an option, which must be one of `choices`, or `nil` if the option wasn't specified.
    package func choice(_ option: String, of choices: [String]) throws(UsageError) -> String? {
        guard let text = last(option) else { return nil }
        guard choices.contains(text) else {
            throw UsageError("--\(option): “\(text)” isn’t valid (use one of \(choices.joined(separator: ", ")))")
        }
        return text
    }

    /// Returns the value of an option as a box to fit into, in pixels, or `nil` if the option wasn't specified. The
    /// value has the form `WxH`, `Wx`, or `xH`.
    package func size(_ option: String = "size") throws(UsageError) -> TargetSize? {
        guard let text = last(option) else { return nil }
        guard let sides = Self.dimensions(text, in: 1...1_000_000) else {
            throw UsageError("--\(option): “\(text)” isn’t a size (use WxH in pixels, such as 320x240)")
        }
        return .fit(width: sides.0.map(Double.init), height: sides.1.map(Double.init))
    }

    /// Parses text in the form `AxB`, `Ax`, or `xB`. Returns `nil` for any other text.
    static func dimensions(_ text: String, in range: ClosedRange<Int>) -> (Int?, Int?)? {
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        let lengths = sides.map { side in
            side.allSatisfy { $0.isASCII && $0.isNumber } ? Int(side).flatMap { range ~= $0 ? $0 : nil } : nil
        }
        let areValid = zip(sides, lengths).allSatisfy { $0.isEmpty || $1 != nil }
        guard sides.count == 2, areValid, lengths.contains(where: { $0 != nil }) else { return nil }
        return (lengths[0], lengths[1])
    }

    /// Returns the value of an option as a number of bytes, or `nil` if the option wasn't specified. The units B, K, M,
    /// and G (also KiB, MiB, and GiB) are powers of 1,024, and KB, MB, and GB are powers of 1,000.
    package func bytes(_ option: String) throws(UsageError) -> Int? {
        guard let text = last(option) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let factors = [
            "": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
            "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000,
        ]
        let unit = text.dropFirst(digits.count).lowercased()
        guard let count = Int(digits), let factor = factors[unit] else {
            throw UsageError("--\(option): “\(text)” isn’t a number of bytes (use a number such as 500000 or 64MiB)")
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: factor)
        guard !overflow else { throw UsageError("--\(option): “\(text)” is too large (use at most \(Int.max) bytes)") }
        return bytes
    }

    /// Returns the value of an option as a duration in seconds, or `nil` if the option wasn't specified. The value is a
    /// number, which may have a fraction, with the unit s, m, h, d, or w.
    package func seconds(_ option: String) throws(UsageError) -> Double? {
        guard let text = last(option) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let factors: [String: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        guard let count = Double(digits), let factor = factors[text.dropFirst(digits.count).lowercased()] else {
            throw UsageError("--\(option): “\(text)” isn’t a duration (use a duration such as 90s, 12h, 30d, or 2w)")
        }
        return count * factor
    }

    /// Throws an error if the number of operands isn't within `range`.
    package func expectOperands(_ range: ClosedRange<Int>, _ names: String) throws(UsageError) {
        guard range.contains(operands.count) else {
            let word = operands.count < range.lowerBound ? "missing" : "unexpected"
            let what = operands.count < range.lowerBound ? names : "argument “\(operands[range.upperBound])”"
            throw UsageError("\(word) \(what)")
        }
    }
}
