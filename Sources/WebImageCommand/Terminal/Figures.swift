// SPDX-License-Identifier: MIT

/// Numbers as people read them.
package enum Figures {
    /// `734 B`, `1.4 KiB`, `23 MiB`: three digits at most before the unit changes.
    package static func bytes(_ count: Int) -> String {
        guard count >= 1_024 else { return "\(count) B" }
        var value = Double(count)
        var unit = "B"
        for next in ["KiB", "MiB", "GiB", "TiB"] where value >= 1_000 || unit == "B" {
            value /= 1_024
            unit = next
        }
        return "\(decimal(value, digits: value < 9.95 ? 1 : 0)) \(unit)"
    }

    /// Seconds as milliseconds without unit: `0.42`, `3.1`, `120`; `–` for nothing.
    package static func milliseconds(_ seconds: Double) -> String {
        let value = seconds * 1_000
        guard value > 0, value.isFinite else { return "–" }
        return decimal(value, digits: value < 0.995 ? 2 : value < 9.95 ? 1 : 0)
    }

    /// `value` with so many digits behind the point.
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

    /// `1 picture`, `2 pictures`.
    package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
