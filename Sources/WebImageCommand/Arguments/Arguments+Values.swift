// SPDX-License-Identifier: MIT

import WebImageCore

extension Arguments {
    /// A whole number within `range`; nil where the option was not given.
    package func integer(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = last(option) else { return nil }
        guard let value = Int(text), range.contains(value) else {
            let bounds =
                range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound)…\(range.upperBound)"
            throw UsageError("--\(option) takes a whole number, \(bounds), not “\(text)”")
        }
        return value
    }

    /// One of `choices`; nil where the option was not given.
    package func choice(_ option: String, of choices: [String]) throws(UsageError) -> String? {
        guard let text = last(option) else { return nil }
        guard choices.contains(text) else {
            throw UsageError("--\(option) takes \(choices.joined(separator: ", ")), not “\(text)”")
        }
        return text
    }

    /// `WxH`, `Wx` or `xH`, in pixels, as a box to fit into; nil where the option was not given.
    package func size(_ option: String = "size") throws(UsageError) -> TargetSize? {
        guard let text = last(option) else { return nil }
        guard let sides = Self.sides(text, in: 1...1_000_000) else {
            throw UsageError("--\(option) takes WxH in pixels, as in 320x240, not “\(text)”")
        }
        return .fit(width: sides.0.map(Double.init), height: sides.1.map(Double.init))
    }

    /// `AxB`, `Ax` or `xB`; nil for anything else.
    static func sides(_ text: String, in range: ClosedRange<Int>) -> (Int?, Int?)? {
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        let lengths = sides.map { side in
            side.allSatisfy { $0.isASCII && $0.isNumber } ? Int(side).flatMap { range ~= $0 ? $0 : nil } : nil
        }
        let areValid = zip(sides, lengths).allSatisfy { $0.isEmpty || $1 != nil }
        guard sides.count == 2, areValid, lengths.contains(where: { $0 != nil }) else { return nil }
        return (lengths[0], lengths[1])
    }

    /// Bytes: a number with B, K, M, G (powers of 1,024, also KiB, MiB, GiB) or KB, MB, GB (powers of 1,000); nil
    /// where the option was not given.
    package func bytes(_ option: String) throws(UsageError) -> Int? {
        guard let text = last(option) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let factors = [
            "": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
            "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000,
        ]
        let unit = text.dropFirst(digits.count).lowercased()
        guard let count = Int(digits), let factor = factors[unit] else {
            throw UsageError("--\(option) takes bytes, as in 500000 or 64MiB, not “\(text)”")
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: factor)
        guard !overflow else { throw UsageError("--\(option) is too large: “\(text)”") }
        return bytes
    }

    /// Seconds: a number, fractions allowed, with s, m, h, d or w; nil where the option was not given.
    package func seconds(_ option: String) throws(UsageError) -> Double? {
        guard let text = last(option) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let factors: [String: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        guard let count = Double(digits), let factor = factors[text.dropFirst(digits.count).lowercased()] else {
            throw UsageError("--\(option) takes a time, as in 90s, 12h, 30d or 2w, not “\(text)”")
        }
        return count * factor
    }

    /// Refuses more or fewer operands.
    package func expectOperands(_ range: ClosedRange<Int>, _ names: String) throws(UsageError) {
        guard range.contains(operands.count) else {
            let word = operands.count < range.lowerBound ? "missing" : "unexpected"
            let what = operands.count < range.lowerBound ? names : "“\(operands[range.upperBound])”"
            throw UsageError("\(word) \(what)")
        }
    }
}
