// SPDX-License-Identifier: MIT

/// The result of `webimage doctor`: checks in sections, with a status for each.
package struct DoctorReport: Sendable, Equatable {
    /// The status of a check. A later case is more severe.
    package enum Status: String, Sendable, CaseIterable, Comparable {
        /// Nothing needs attention.
        case ok
        /// Something is missing, unknown, or reduced, but it isn’t known to be unsafe.
        case note
        /// Something is unsafe. The command exits with status 1.
        case unsafe

        package static func < (left: Status, right: Status) -> Bool { left.severity < right.severity }

        private var severity: Int {
            switch self {
            case .ok: 0
            case .note: 1
            case .unsafe: 2
            }
        }
    }

    /// A check.
    package struct Check: Sendable, Equatable {
        /// A stable name for programs, such as `libwebp`.
        package let id: String
        package let status: Status
        /// The subject of the check, such as `libwebp`.
        package let title: String
        /// The finding, in one or two sentences or as a value.
        package let detail: String
        /// The action that resolves the finding, or `nil` if there’s none.
        package let remedy: String?

        package init(_ id: String, _ status: Status, _ title: String, _ detail: String, remedy: String? = nil) {
            self.id = id
            self.status = status
            self.title = title
            self.detail = detail
            self.remedy = remedy
        }
    }

    /// A titled list of checks.
    package struct Section: Sendable, Equatable {
        /// A stable name for programs, such as `libraries`.
        package let id: String
        package let title: String
        package let checks: [Check]

        package init(_ id: String, _ title: String, _ checks: [Check]) {
            self.id = id
            self.title = title
            self.checks = checks
        }
    }

    /// The version of the tool.
    package let version: String
    package let sections: [Section]

    package init(version: String, _ sections: [Section]) {
        self.version = version
        self.sections = sections
    }

    /// The most severe status of all checks.
    package var status: Status { checks.map(\.status).max() ?? .ok }

    /// Whether a check found something unsafe.
    package var isUnsafe: Bool { status == .unsafe }

    private var checks: [Check] { sections.flatMap(\.checks) }

    private func count(_ status: Status) -> Int { checks.count { $0.status == status } }

    // MARK: - JSON

    /// The report as a JSON object. Its keys and the `id` values are stable.
    package var json: JSONValue {
        [
            "version": .string(version), "status": .string(status.rawValue),
            "vulnerabilitiesDate": .string(KnownVulnerability.tableDate),
            "counts": .object(Status.allCases.map { .init($0.rawValue, .int(count($0))) }),
            "sections": .array(sections.map(Self.json)),
        ]
    }

    private static func json(_ section: Section) -> JSONValue {
        [
            "id": .string(section.id), "title": .string(section.title),
            "checks": .array(
                section.checks.map { check in
                    [
                        "id": .string(check.id), "status": .string(check.status.rawValue),
                        "title": .string(check.title), "detail": .string(check.detail),
                        "remedy": JSONValue(check.remedy),
                    ]
                }),
        ]
    }

    // MARK: - Text

    /// Returns the lines of the report for an output, with aligned columns. Long details are wrapped on a terminal.
    package func lines(_ style: TerminalStyle) -> [String] {
        let titleWidth = checks.map { DisplayText.width($0.title) }.max() ?? 0
        var lines: [String] = []
        for section in sections where !section.checks.isEmpty {
            if !lines.isEmpty { lines.append("") }
            lines.append(style.apply(.bold, to: section.title))
            for check in section.checks { lines += Self.lines(check, titleWidth, style) }
        }
        return lines + ["", summary(style)]
    }

    private static let statusWidth = Status.allCases.map(\.rawValue.count).max() ?? 0

    private static func lines(_ check: Check, _ titleWidth: Int, _ style: TerminalStyle) -> [String] {
        let status = DisplayText.padded(check.status.rawValue, to: statusWidth)
        let title = DisplayText.padded(DisplayText.safe(check.title), to: titleWidth)
        let indent = 2 + statusWidth + 2 + titleWidth + 2
        let room = style.columns == .max ? Int.max : max(20, style.columns - indent)
        let detail = TextWrap.lines(DisplayText.safe(check.detail), width: room)
        let remedy = TextWrap.lines(check.remedy.map { DisplayText.safe("Remedy: \($0)") } ?? "", width: room)
        let blanks = String(repeating: " ", count: indent)
        let head = "  \(style.apply(emphasis(check.status), to: status))  \(title)  \(detail.first ?? "")"
        return [head] + detail.dropFirst().map { blanks + $0 } + remedy.map { blanks + style.apply(.dim, to: $0) }
    }

    private static func emphasis(_ status: Status) -> Emphasis {
        switch status {
        case .ok: .green
        case .note: .yellow
        case .unsafe: .red
        }
    }

    private func summary(_ style: TerminalStyle) -> String {
        let text =
            "\(NumberFormatting.count(checks.count, "check")): \(count(.ok)) ok, "
            + "\(NumberFormatting.count(count(.note), "note")), \(count(.unsafe)) unsafe. "
            + "Vulnerabilities known on \(KnownVulnerability.tableDate)."
        return style.apply(Self.emphasis(status), to: text)
    }
}
