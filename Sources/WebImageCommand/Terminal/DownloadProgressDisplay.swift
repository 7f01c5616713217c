// SPDX-License-Identifier: MIT

/// The progress of several downloads, which can be drawn as lines of text. The owner of this value decides when to
/// draw.
package struct DownloadProgressDisplay: Sendable {
    private struct Download: Sendable {
        var name: String
        var received = 0
        var expected: Int?
    }

    private let total: Int
    private var running: [Int: Download] = [:]
    private var finished = 0
    private var failed = 0
    private var finishedBytes = 0

    /// Creates a board for `total` images.
    package init(total: Int) { self.total = total }

    package mutating func start(_ id: Int, name: String) { running[id] = Download(name: DisplayText.safe(name)) }

    package mutating func update(_ id: Int, received: Int, expected: Int?) {
        running[id]?.received = received
        running[id]?.expected = expected
    }

    package mutating func finish(_ id: Int, bytes: Int, failed hasFailed: Bool) {
        running[id] = nil
        finished += 1
        failed += hasFailed ? 1 : 0
        finishedBytes += bytes
    }

    /// Returns one line per running download, oldest first, and a line with the total. The lines fit on the terminal.
    package func lines(_ style: TerminalStyle) -> [String] {
        let room = max(0, min(8, style.rows - 3))
        let shown = running.sorted { $0.key < $1.key }.prefix(room)
        var lines = shown.map { line(for: $0.value, style) }
        if running.count > shown.count {
            lines.append(style.apply(.dim, to: "… and \(running.count - shown.count) more"))
        }
        return lines + [totalLine(style)]
    }

    private static let barWidth = 24

    private func line(for download: Download, _ style: TerminalStyle) -> String {
        let fraction = download.expected.map { $0 > 0 ? Double(download.received) / Double($0) : 0 }
        let bytes =
            download.expected.map { "\(NumberFormatting.bytes(download.received)) of \(NumberFormatting.bytes($0))" }
            ?? (download.received > 0 ? NumberFormatting.bytes(download.received) : "waiting")
        return Self.line(download.name, fraction: fraction, remark: bytes, bar: .cyan, style)
    }

    private func totalLine(_ style: TerminalStyle) -> String {
        let bytes = running.values.reduce(finishedBytes) { $0 + $1.received }
        let failures = failed > 0 ? ", \(failed) failed" : ""
        let fraction = total > 0 ? Double(finished) / Double(total) : 1
        return Self.line(
            "\(finished) of \(NumberFormatting.count(total, "image"))\(failures)", fraction: fraction,
            remark: NumberFormatting.bytes(bytes), bar: failed > 0 ? .yellow : .green, style)
    }

    /// Returns a line with a label, a bar, and a remark that fits into the width of the terminal.
    static func line(
        _ label: String, fraction: Double?, remark: String, bar: Emphasis, _ style: TerminalStyle
    ) -> String {
        // Leave the last column empty because some terminals wrap a full line.
        let remarkWidth = 22
        let barWidth = min(Self.barWidth, max(0, style.columns - 1 - 20 - remarkWidth - 4))
        let labelWidth = max(8, min(36, style.columns - 1 - barWidth - remarkWidth - 4))
        let name = DisplayText.padded(
            DisplayText.truncated(label, to: labelWidth, inMiddle: true), to: labelWidth)
        let drawn = barWidth > 0 ? Self.bar(fraction, width: barWidth, bar, style) + "  " : ""
        let room = max(0, style.columns - 1 - labelWidth - 2 - (barWidth > 0 ? barWidth + 2 : 0))
        return "\(name)  \(drawn)\(DisplayText.truncated(remark, to: room))"
    }

    private static func bar(_ fraction: Double?, width: Int, _ emphasis: Emphasis, _ style: TerminalStyle) -> String {
        let done = Int((min(1, max(0, fraction ?? 0)) * Double(width)).rounded())
        return style.apply(emphasis, to: String(repeating: "━", count: done))
            + style.apply(.dim, to: String(repeating: style.hasColor ? "━" : "─", count: width - done))
    }
}

/// The progress of one operation.
package struct TaskProgressDisplay: Sendable {
    private let label: String
    private var done = 0
    private var total = 0
    private let countsBytes: Bool

    /// Creates a board for an operation with the name `label`.
    package init(_ label: String, countsBytes: Bool = false) {
        self.label = label
        self.countsBytes = countsBytes
    }

    package mutating func update(done: Int, total: Int) {
        self.done = done
        self.total = total
    }

    /// Returns the line to draw.
    package func lines(_ style: TerminalStyle) -> [String] {
        func text(_ number: Int) -> String { countsBytes ? NumberFormatting.bytes(number) : "\(number)" }
        // If the total is unknown, it equals the number of completed items.
        let isOpen = done == total
        return [
            DownloadProgressDisplay.line(
                label, fraction: isOpen ? nil : Double(done) / Double(max(1, total)),
                remark: isOpen ? text(done) : "\(text(done)) of \(text(total))", bar: .cyan, style)
        ]
    }
}

/// Lines at the bottom of a terminal that are redrawn in place (ECMA-48 CPL, ED).
package struct LiveRegion: Sendable {
    private var drawn = 0

    package init() {}

    /// Returns the text that replaces the previous lines with `lines`. The lines in `above` are written before them and
    /// remain.
    package mutating func draw(_ lines: [String], above: [String] = []) -> String {
        let back = drawn > 0 ? "\u{1B}[\(drawn)F" : ""
        drawn = lines.count
        return back + "\u{1B}[0J" + (above + lines).map { $0 + "\n" }.joined()
    }

    /// Returns the text that removes all lines.
    package mutating func clear() -> String { drawn > 0 ? draw([]) : "" }
}
