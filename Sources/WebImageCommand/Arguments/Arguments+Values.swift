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

    /// Returns the value of an option as a size, or `nil` if the option wasn't specified.
    ///
    /// The value is a geometry as in ImageMagick. `W`, `Wx`, `xH`, and `WxH` fit the image into the box. `WxH^` fills
    /// the box and crops the image. `WxH!` has exactly this size. `P%` and `P%xP%` are percentages of the natural size.
    package func size(_ option: String = "size") throws(UsageError) -> TargetSize? {
        guard let text = last(option) else { return nil }
        return try Self.size(text, of: option)
    }

    /// Returns the size that a geometry describes. `shown` is the text of the user, if it's another one.
    static func size(_ text: String, of option: String, shown: String? = nil) throws(UsageError) -> TargetSize {
        let shown = shown ?? text
        if text.contains("%") {
            guard let size = TargetSize(percentages: text) else {
                throw UsageError("--\(option): “\(shown)” isn’t a size (use \(TargetSize.validPercentages))")
            }
            return size
        }
        let problem = UsageError(
            "--\(option): “\(shown)” isn’t a size (use pixels, such as 320x240, 320, x240, 320x240^, or 320x240!, or "
                + "percentages, such as 50%)")
        let mark = text.last.flatMap { "^!".contains($0) ? $0 : nil }
        let box = mark == nil ? text : String(text.dropLast())
        let sides = box.lowercased().contains("x") ? box : "\(box)x"
        guard let (width, height) = dimensions(sides, in: 1...1_000_000) else { throw problem }
        guard let mark else { return .fit(width: width.map(Double.init), height: height.map(Double.init)) }
        guard let width, let height else { throw problem }
        return mark == "^"
            ? .fill(width: Double(width), height: Double(height)) : .exact(width: Double(width), height: Double(height))
    }

    /// Returns the filter for `--size`, with the kernel that `--filter` specifies and the light that `--light` specifies.
    package func resampling() throws(UsageError) -> ResamplingFilter {
        let kernel = try choice("filter", of: OptionSpec.kernels.list).flatMap { OptionSpec.kernels[$0] }
        let light = try choice("light", of: ResamplingFilter.Light.allCases.map(\.rawValue))
        return ResamplingFilter(
            kernel ?? .lanczos3, light: light.flatMap(ResamplingFilter.Light.init) ?? .linear)
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
    /// number, which may have a fraction, with the unit s, m, h, d, or w. If `defaultUnit` isn't `nil`, the unit can be
    /// omitted.
    package func seconds(_ option: String, defaultUnit: String? = nil) throws(UsageError) -> Double? {
        guard let text = last(option) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let factors: [String: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        let unit = text.dropFirst(digits.count).lowercased()
        guard let count = Double(digits), let factor = factors[unit.isEmpty ? defaultUnit ?? "" : unit] else {
            let example = defaultUnit == nil ? "90s, 12h, 30d, or 2w" : "90, 1.5, or 2m"
            throw UsageError("--\(option): “\(text)” isn’t a duration (use a duration such as \(example))")
        }
        return count * factor
    }

    /// Returns the value of an option as a number, or `nil` if the option wasn't specified.
    package func number(_ option: String) throws(UsageError) -> Double? {
        guard let text = last(option) else { return nil }
        guard let value = Double(text), value.isFinite else {
            throw UsageError("--\(option): “\(text)” isn’t a number (use a number such as 80)")
        }
        return value
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
