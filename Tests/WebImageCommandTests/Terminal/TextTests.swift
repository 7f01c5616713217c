// SPDX-License-Identifier: MIT

import Testing
import WebImageTestBasics

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

    @Test(
        "Marks without a base don't change the character before them if the text is truncated",
        arguments: [
            ("abcdef\u{200E}\u{FE0F}\u{FFFD}gh", 7, "abc…\u{FFFD}gh"), ("abcdefg\n\u{FE0F}ab", 5, "ab…ab"),
            ("abcdefgh\n\u{1F3FB}", 6, "abc…\u{1F3FB}"), ("abcd\u{600}漢", 6, "abcd\u{600}漢"),
            ("abcd\u{600}漢", 5, "ab…\u{600}漢"),
        ])
    func marks(_ text: String, _ width: Int, _ short: String) {
        #expect(DisplayText.truncated(text, to: width, inMiddle: true) == short)
    }

    @Test("Truncated text always fits, begins like the text, and ends like it if it's truncated in the middle")
    func manyTexts() {
        let scalars =
            Array("a1 =…\r\né漢👩👦#\u{301}\u{600}\u{903}\u{915}\u{94D}\u{1100}\u{1161}\u{11A8}".unicodeScalars)
            + ["\u{200D}", "\u{200E}", "\u{20E3}", "\u{FE0F}", "\u{FF9E}", "\u{1F1E9}", "\u{1F1EA}", "\u{1F3FB}"]
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<20_000 {
            var view = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...16, using: &generator) {
                view.append(scalars[Int.random(in: 0..<scalars.count, using: &generator)])
            }
            let (text, width) = (String(view), Int.random(in: 1...12, using: &generator))
            for inMiddle in [false, true] {
                let short = DisplayText.truncated(text, to: width, inMiddle: inMiddle)
                #expect(DisplayText.width(short) <= width, "\(view.map(\.value))")
                guard short != text else { continue }
                let parts = short.unicodeScalars.split(separator: "…", omittingEmptySubsequences: false)
                let isPrefix = view.starts(with: parts[0])
                let isSuffix = view.reversed().starts(with: parts[parts.count - 1].reversed())
                #expect(isPrefix && isSuffix, "\(view.map(\.value))")
            }
        }
    }

    @Test("The width of text is counted in terminal columns")
    func widths() {
        #expect(DisplayText.width("abc") == 3)
        #expect(DisplayText.width("日本") == 4)
        #expect(DisplayText.width("e\u{301}") == 1)
        #expect(DisplayText.width("👩‍👩‍👧‍👦") == 2)
        #expect(DisplayText.width("☺\u{FE0F}") == 2 && DisplayText.width("☺") == 1)
        #expect(DisplayText.width("1\u{FE0F}\u{20E3}") == 2)
        #expect(DisplayText.width("\u{FE0F}") == 0 && DisplayText.width("\u{600}漢") == 2)
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
