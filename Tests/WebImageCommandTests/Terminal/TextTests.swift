// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageCommand

@Suite("Text on a terminal")
struct TextTests {
    @Test("Text is truncated between characters, including wide characters and emoji")
    func truncation() {
        #expect(DisplayText.truncated("abcdef", to: 6) == "abcdef")
        #expect(DisplayText.truncated("abcdef", to: 4) == "abc…")
        #expect(DisplayText.truncated("holiday-2026.jpeg", to: 9, inMiddle: true) == "holi…jpeg")
        #expect(DisplayText.truncated("日本語の写真", to: 6) == "日本…")
        #expect(DisplayText.truncated("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", to: 5) == "👩‍👩‍👧‍👦👩‍👩‍👧‍👦…")
        #expect(DisplayText.truncated("e\u{301}e\u{301}e\u{301}", to: 2) == "e\u{301}…")
        #expect(DisplayText.truncated("abc", to: 0).isEmpty)
    }

    @Test("The width of text is counted in terminal columns")
    func widths() {
        #expect(DisplayText.width("abc") == 3)
        #expect(DisplayText.width("日本") == 4)
        #expect(DisplayText.width("e\u{301}") == 1)
        #expect(DisplayText.width("👩‍👩‍👧‍👦") == 2)
        #expect(DisplayText.padded("日", to: 4) == "日  ")
        #expect(DisplayText.padded("7", to: 3, trailing: true) == "  7")
    }

    @Test("Escape sequences and direction overrides from servers don't reach the terminal")
    func safety() {
        #expect(
            DisplayText.safe("a\u{1B}[2Jb\r\n\u{9B}c\u{202E}d") == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}\u{FFFD}c\u{FFFD}d")
        #expect(DisplayText.safe("Grüße 日本 👩‍👩‍👧‍👦") == "Grüße 日本 👩‍👩‍👧‍👦")
    }

    @Test(
        "Numbers of bytes are short and have a unit",
        arguments: [
            (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (10_188, "9.9 KiB"), (10_240, "10 KiB"),
            (1_023_999, "1000 KiB"), (1_024_000, "1.0 MiB"), (512 << 20, "512 MiB"), (3 << 40, "3.0 TiB"),
        ])
    func bytes(_ count: Int, _ text: String) {
        #expect(NumberFormatting.bytes(count) == text)
    }

    @Test(
        "Milliseconds keep at least two significant digits",
        arguments: [(0, "–"), (0.00042, "0.42"), (0.0031, "3.1"), (0.12, "120"), (12.5, "12500")])
    func milliseconds(_ seconds: Double, _ text: String) {
        #expect(NumberFormatting.milliseconds(seconds) == text)
    }

    @Test("Colors appear only if they're enabled")
    func colours() {
        let colored = TerminalStyle(isTerminal: true, hasColor: true, columns: 80, rows: 24)
        #expect(colored.apply(.red, to: "x") == "\u{1B}[31mx\u{1B}[0m")
        #expect(TerminalStyle.plain.apply(.red, to: "x") == "x")
    }

    @Test(
        "Sizes in the gallery have decimal units",
        arguments: [(0, "0 B"), (999, "999 B"), (1_400, "1.4 kB"), (120_000, "120 kB"), (999_999, "1.0 MB")])
    func decimalBytes(_ count: Int, _ text: String) {
        #expect(NumberFormatting.decimalBytes(count) == text)
    }

    @Test(
        "Large numbers are grouped by commas",
        arguments: [(0, "0"), (999, "999"), (2_400, "2,400"), (-1_234_567, "-1,234,567")])
    func grouped(_ number: Int, _ text: String) {
        #expect(NumberFormatting.grouped(number) == text)
    }
}
