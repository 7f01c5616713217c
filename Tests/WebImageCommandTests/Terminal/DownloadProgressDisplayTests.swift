// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageCommand

@Suite("Progress")
struct DownloadProgressDisplayTests {
    private let style = TerminalStyle(isTerminal: true, hasColor: false, columns: 80, rows: 24)

    @Test("Every running download has a line, and one line summarizes all downloads")
    func snapshot() {
        var board = DownloadProgressDisplay(total: 4)
        board.start(0, name: "a.jpg")
        board.start(1, name: "a-name-that-is-far-too-long-for-its-column.webp")
        board.start(2, name: "c.png")
        board.update(0, received: 512 << 10, expected: 1 << 20)
        board.update(1, received: 2_048, expected: nil)
        board.start(3, name: "d.png")
        board.finish(3, bytes: 1_024, failed: true)
        #expect(
            board.lines(style) == [
                "a.jpg                          ━━━━━━━━━━━━────────────  512 KiB of 1.0 MiB",
                "a-name-that-is…ts-column.webp  ────────────────────────  2.0 KiB",
                "c.png                          ────────────────────────  waiting",
                "1 of 4 images, 1 failed        ━━━━━━──────────────────  515 KiB",
            ])
    }

    @Test("No line is wider than the terminal", arguments: [20, 40, 60, 80, 200])
    func widths(_ columns: Int) {
        var board = DownloadProgressDisplay(total: 1)
        board.start(0, name: String(repeating: "日本", count: 40))
        board.update(0, received: 1_000_000, expected: 2_000_000)
        var style = style
        style.columns = columns
        for line in board.lines(style) { #expect(DisplayText.width(line) < max(columns, 32)) }
    }

    @Test("The progress never has more lines than the terminal has rows", arguments: [3, 5, 24])
    func heights(_ rows: Int) {
        var board = DownloadProgressDisplay(total: 50)
        for id in 0..<50 { board.start(id, name: "\(id)") }
        var style = style
        style.rows = rows
        #expect(board.lines(style).count <= max(2, min(10, rows)))
        #expect(board.lines(style).contains { $0.hasPrefix("… and ") })
    }

    @Test("Names from servers can't control the terminal")
    func hostileName() {
        var board = DownloadProgressDisplay(total: 1)
        board.start(0, name: "\u{1B}[31mred\u{7}")
        #expect(board.lines(style)[0].hasPrefix("\u{FFFD}[31mred\u{FFFD} "))
    }

    @Test("New lines replace the previous ones, and the region can be cleared")
    func region() {
        var region = LiveRegion()
        #expect(region.clear().isEmpty)
        #expect(region.draw(["a", "b"]) == "\u{1B}[0Ja\nb\n")
        #expect(region.draw(["c"]) == "\u{1B}[2F\u{1B}[0Jc\n")
        #expect(region.clear() == "\u{1B}[1F\u{1B}[0J")
        #expect(region.clear().isEmpty)
    }
}
