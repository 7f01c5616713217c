// SPDX-License-Identifier: MIT

/// Functions that format numbers for users.
package enum NumberFormatting {
    /// Returns a size such as `734 B`, `1.4 KiB`, or `23 MiB`, with at most three digits before the unit changes.
    package static func bytes(_ count: Int) -> String {
        size(count, base: 1_024, limit: 1_000, units: ["KiB", "MiB", "GiB", "TiB"])
    }

    /// Returns a size in decimal units such as `734 B`, `1.4 kB`, or `23 MB`, as the GNOME desktop does.
    package static func decimalBytes(_ count: Int) -> String {
        size(count, base: 1_000, limit: 999.5, units: ["kB", "MB", "GB", "TB"])
    }

    /// Returns a size in the first unit in which the value is less than `limit`. Each unit is `base` times the previous
    /// one.
    private static func size(_ count: Int, base: Int, limit: Double, units: [String]) -> String {
        guard count >= base else { return "\(count) B" }
        var value = Double(count)
        var unit = "B"
        for next in units where value >= limit || unit == "B" {
            value /= Double(base)
            unit = next
        }
        return "\(decimal(value, digits: value < 9.95 ? 1 : 0)) \(unit)"
    }

    /// Returns a number with commas between groups of three digits, such as `2,400`.
    package static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// Returns a duration in milliseconds without a unit, such as `0.42`, `3.1`, or `120`. For 0, it returns `–`.
    package static func milliseconds(_ seconds: Double) -> String {
        let value = seconds * 1_000
        guard value > 0, value.isFinite else { return "–" }
        return decimal(value, digits: value < 0.995 ? 2 : value < 9.95 ? 1 : 0)
    }

    /// Returns `value` with `digits` decimal places.
    package static func decimal(_ value: Double, digits: Int) -> String {
        var factor = 1
        for _ in 0..<digits { factor *= 10 }
        let scaled = (value * Double(factor)).rounded()
        guard scaled.magnitude < 1e15 else { return "\(value)" }
        let whole = Int(scaled)
        guard digits > 0 else { return "\(whole)" }
        let fraction = String(whole.magnitude % UInt(factor))
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return "\(whole < 0 ? "-" : "")\(whole.magnitude / UInt(factor)).\(zeros)\(fraction)"
    }

    /// Returns a count with its noun, such as `1 image` or `2 images`.
    package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// Returns a number of cache entries, such as `1 entry` or `2 entries`.
    package static func entries(_ number: Int) -> String { number == 1 ? "1 entry" : "\(number) entries" }
}
