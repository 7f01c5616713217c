// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite(.enabled(if: Conformance.folder != nil, "the conformance pictures are not there"))
struct ConformanceTests {
    @Test("the probe says what the decoders of the manifest agree on")
    func manifest() throws {
        var mismatches: [String] = []
        let rows = try Conformance.rows(of: "manifest.csv")
        #expect(rows.count > 1_000)
        for row in rows {
            let file = row["file"] ?? ""
            let found = try differences(row, ImageProbe.probe(Conformance.data(file), isComplete: true))
            mismatches += found.map { "\(file) \($0)" }
        }
        #expect(mismatches.isEmpty, "\(mismatches.count):\n\(mismatches.joined(separator: "\n"))")
    }

    private func differences(_ row: Conformance.Row, _ outcome: ProbeOutcome) -> [String] {
        guard case .found(let probe) = outcome else { return ["\(outcome)"] }
        var differences: [String] = []
        func compare(_ column: String, _ actual: String) {
            guard let cell = row[column], !cell.isEmpty, cell != actual else { return }
            differences.append("\(column) \(actual), not \(cell)")
        }
        compare("format", probe.format.rawValue)
        compare("width", "\(probe.size.width)")
        compare("height", "\(probe.size.height)")
        compare("raw_width", "\(probe.rawSize.width)")
        compare("raw_height", "\(probe.rawSize.height)")
        if probe.frameCountIsExact { compare("frames", "\(probe.frameCount)") }
        compare("has_alpha", probe.hasAlpha ? "yes" : "no")
        if row["loop"] != "none" { compare("loop", "\(probe.loopCount)") }
        if row["orientation"] != "none" { compare("orientation", "\(probe.orientation.rawValue)") }
        return differences
    }
}
