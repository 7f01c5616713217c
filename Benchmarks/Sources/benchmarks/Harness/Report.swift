// SPDX-License-Identifier: MIT

import Foundation

/// The median measurements of one contender.
struct ContenderReport: Encodable {
    let name: String
    let medians: [Figure: Double]

    private enum Keys: String, CodingKey { case name, medians }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(name, forKey: .name)
        let named = Dictionary(uniqueKeysWithValues: medians.map { ($0.key.rawValue, $0.value) })
        try container.encode(named, forKey: .medians)
    }
}

/// A goal and the measured value.
struct Verdict: Encodable {
    let figure: Figure
    let rival: String?
    let bound: Double
    let isFloor: Bool
    let reached: Double

    var isMet: Bool { isFloor ? reached >= bound : reached <= bound }
    var isNearMiss: Bool { !isMet && (isFloor ? reached >= bound * 0.9 : reached <= bound * 1.1) }

    var text: String {
        let sign = isFloor ? "≥" : "≤"
        let mark = isMet ? "pass" : "MISS"
        if let rival {
            return "\(mark)  \(figure.rawValue) \(decimal(reached, 2))x of \(rival), goal \(sign) \(decimal(bound, 2))x"
        }
        return "\(mark)  \(figure.rawValue) \(figure.text(reached)), goal \(sign) \(figure.text(bound))"
    }
}

/// The report of one case.
struct CaseReport: Encodable {
    let suite: String
    let name: String
    let contenders: [ContenderReport]
    let verdicts: [Verdict]
    var wasRepeated = false
    let point: SeriesPoint?

    private enum CodingKeys: String, CodingKey { case suite, name, contenders, verdicts, wasRepeated }

    init(
        suite: String, name: String, contenders: [ContenderReport], verdicts: [Verdict], point: SeriesPoint?
    ) {
        self.suite = suite
        self.name = name
        self.contenders = contenders
        self.verdicts = verdicts
        self.point = point
    }

    /// The lines for the terminal.
    var text: String {
        var lines = ["\(suite): \(name)" + (wasRepeated ? "  (measured again after a near miss)" : "")]
        let width = contenders.map(\.name.count).max() ?? 0
        for contender in contenders {
            let figures = contender.medians.sorted { $0.key.rawValue < $1.key.rawValue }.map { figure, value in
                "\(figure.rawValue) \(figure.text(value))\(ratio(figure, contender))"
            }
            let name = contender.name + String(repeating: " ", count: width - contender.name.count)
            lines.append("    \(name)  \(figures.joined(separator: "   "))")
        }
        lines += verdicts.map { "    \($0.text)" }
        return lines.joined(separator: "\n")
    }

    /// Returns the ratio of the first contender’s measurement to that of `contender`, if they do the same work.
    func ratio(_ figure: Figure, _ contender: ContenderReport) -> String {
        guard point == nil, let own = contenders.first, own.name != contender.name, figure != .psnr,
            let ours = own.medians[figure], let theirs = contender.medians[figure], theirs > 0
        else { return "" }
        return " (ours \(decimal(ours / theirs, 2))x)"
    }
}
