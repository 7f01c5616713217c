// SPDX-License-Identifier: MIT

import WebImageCore

extension TargetSize {
    /// The maximum percentage. A higher one is probably a mistake.
    private static let maxPercentage = 10_000

    /// The description of valid percentages, for error messages.
    static let validPercentages =
        "percentages greater than 0%, up to \(maxPercentage)%, such as 50% or 50%x25%"

    /// Creates a size in percent of the natural size, which is the size with the EXIF orientation applied. `P%` applies
    /// to both sides, and `P%xP%` to the width and the height. Returns `nil` for any other text.
    init?(percentages text: String) {
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        let factors = sides.compactMap { Self.factor(String($0)) }
        guard (1...2).contains(sides.count), factors.count == sides.count else { return nil }
        self = .scaled(width: factors[0], height: factors.last ?? factors[0])
    }

    private static func factor(_ text: String) -> Double? {
        guard text.hasSuffix("%"), let value = TransformValues.decimal(String(text.dropLast())), value > 0,
            value <= Double(maxPercentage)
        else { return nil }
        return value / 100
    }
}
