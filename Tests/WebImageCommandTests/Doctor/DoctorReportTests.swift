// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import WebImageCommand

@Suite("The report of webimage doctor")
struct DoctorReportTests {
    private static let ok = DoctorReport.Check("a", .ok, "short", "1.0")
    private static let note = DoctorReport.Check("b", .note, "a longer title", "Missing.", remedy: "Install it.")
    private static let unsafe = DoctorReport.Check(
        "c", .unsafe, "c", "Other users can change it.", remedy: "Remove it.")

    private func report(_ checks: DoctorReport.Check...) -> DoctorReport {
        DoctorReport(version: "1.2.3", [.init("one", "One", checks), .init("none", "None", [])])
    }

    @Test("The most severe check is the status of the report")
    func status() {
        #expect(report().status == .ok)
        #expect(report(Self.ok, Self.note).status == .note)
        #expect(report(Self.unsafe, Self.note, Self.ok).status == .unsafe)
        #expect(report(Self.unsafe, Self.ok).isUnsafe && !report(Self.note).isUnsafe)
    }

    @Test("The text has aligned columns, remedies, and a summary, and omits sections without checks")
    func text() {
        #expect(
            report(Self.ok, Self.note, Self.unsafe).lines(.plain) == [
                "One",
                "  ok      short           1.0",
                "  note    a longer title  Missing.",
                "                          Remedy: Install it.",
                "  unsafe  c               Other users can change it.",
                "                          Remedy: Remove it.",
                "",
                "3 checks: 1 ok, 1 note, 1 unsafe. Vulnerabilities known on \(KnownVulnerability.tableDate).",
            ])
    }

    @Test("On a terminal, long details are wrapped below their column, and the status has a color")
    func terminal() {
        let style = TerminalStyle(isTerminal: true, hasColor: true, columns: 50, rows: 24)
        let long = DoctorReport.Check("x", .unsafe, "x", String(repeating: "word ", count: 30))
        let lines = report(long).lines(style)
        #expect(lines[1].hasPrefix("  \u{1B}[31munsafe\u{1B}[0m  x  word"))
        #expect(lines.count > 5 && lines[2].hasPrefix("             word"))
        #expect(lines[1...].dropLast(2).allSatisfy { !$0.hasSuffix(" ") })
        #expect(!report(long).lines(.plain).joined().contains("\u{1B}"))
    }

    @Test("Control characters in a finding don't reach the terminal")
    func controls() {
        let check = DoctorReport.Check("x", .note, "x", "path \u{1B}[2J", remedy: "remove \u{202E}it")
        let text = report(check).lines(.plain).joined()
        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
    }

    @Test("The JSON object has the documented keys")
    func json() throws {
        let text = report(Self.ok, Self.note, Self.unsafe).json.text
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(Set(object.keys) == ["version", "status", "vulnerabilitiesDate", "counts", "sections"])
        #expect(object["version"] as? String == "1.2.3" && object["status"] as? String == "unsafe")
        #expect(object["counts"] as? [String: Int] == ["ok": 1, "note": 1, "unsafe": 1])
        let sections = try #require(object["sections"] as? [[String: Any]])
        #expect(sections.map { $0["id"] as? String } == ["one", "none"])
        let checks = try #require(sections[0]["checks"] as? [[String: Any]])
        #expect(Set(checks[0].keys) == ["id", "status", "title", "detail", "remedy"])
        #expect(checks[0]["remedy"] is NSNull && checks[1]["remedy"] as? String == "Install it.")
    }
}
