// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Grids of images in the terminal")
struct GridTests {
    private static let pixels = PixelSize(width: 8, height: 16)

    private func options(_ words: String...) throws -> ShowOptions {
        try ShowOptions(Arguments(words, for: Commands.show))
    }

    @Test("The value of --grid is optional")
    func values() throws {
        #expect(try options("a").grid == nil)
        #expect(try options("--grid", "a").grid == GridArgument())
        #expect(try options("--grid", "a").inputs.operands == ["a"])
        #expect(try options("a", "--grid=4").grid == GridArgument(columns: 4))
        #expect(try options("a", "--grid=4x").grid == GridArgument(columns: 4))
        #expect(try options("a", "--grid=4x3", "--still").grid == GridArgument(columns: 4, rows: 3))
        #expect(try options("a", "--grid=x3").grid == GridArgument(rows: 3))
        // An abbreviation takes the value in the same way.
        #expect(try options("--gri=2", "a").grid == GridArgument(columns: 2))
    }

    @Test(
        "Invalid values and contradictory options are usage errors",
        arguments: [
            ["--grid=0"], ["--grid=101"], ["--grid=x"], ["--grid=4x3x2"], ["--grid=a"], ["--grid", "--loop", "1"],
        ])
    func refused(_ words: [String]) {
        #expect(throws: UsageError.self) { try ShowOptions(Arguments(words + ["a"], for: Commands.show)) }
    }

    @Test("The help, the man page, and the scripts show the optional value")
    func help() {
        #expect(HelpText(width: 80).page(Commands.show).contains("      --grid[=COLSxROWS]  "))
        #expect(
            ManualPage.page(Commands.show, version: "1").text.contains("\n\\fB\\-\\-grid\\fR[=\\fICOLSxROWS\\fR]\n"))
        #expect(CompletionScript.text(for: .zsh).contains("'*--grid=-["))
        #expect(!CompletionScript.text(for: .bash).contains("--grid)"))
        #expect(CompletionScript.text(for: .fish).contains(" -l grid -d "))
    }

    private func layout(
        _ grid: GridArgument = GridArgument(), count: Int = 100, limit: (columns: Int?, rows: Int?) = (nil, nil),
        columns: Int = 80, rows: Int = 23, pixels: PixelSize = pixels
    ) -> GridLayout {
        GridLayout(
            grid, count: count, limit: limit, screen: CellCount(columns: columns, rows: rows), pixels: pixels)
    }

    @Test("The width of the terminal determines the number of images per row, which fill it")
    func automatic() {
        #expect(layout().columns == 4 && layout().cell == CellCount(columns: 18, rows: 9))
        #expect(layout(columns: 120).columns == 6 && layout(columns: 120).cell == CellCount(columns: 18, rows: 9))
        #expect(layout(columns: 97).columns == 4 && layout(columns: 97).cell == CellCount(columns: 22, rows: 11))
        #expect(layout(columns: 12).columns == 1 && layout(columns: 12).cell == CellCount(columns: 12, rows: 6))
        // Few images are larger, but not higher than the screen.
        #expect(layout(count: 2).columns == 2 && layout(count: 2).cell == CellCount(columns: 39, rows: 20))
        #expect(layout(count: 1).columns == 1 && layout(count: 1).cell == CellCount(columns: 80, rows: 21))
        #expect(layout(count: 0).columns == 1)
        #expect(layout(pixels: PixelSize(width: 10, height: 10)).cell == CellCount(columns: 18, rows: 18))
    }

    @Test("Options determine the number of images per row and per screen, and the size of the images")
    func requested() {
        #expect(layout(GridArgument(columns: 2)).cell == CellCount(columns: 39, rows: 20))
        #expect(layout(GridArgument(columns: 2), count: 1).columns == 2)
        #expect(layout(GridArgument(columns: 4, rows: 3)).cell == CellCount(columns: 18, rows: 5))
        #expect(layout(GridArgument(rows: 100)).cell.rows == 1)
        // More images than fit into the terminal would have no width.
        #expect(layout(GridArgument(columns: 100)).columns == 13)
        #expect(layout(GridArgument(columns: 100)).cell.columns == 4)
        let narrow = layout(limit: (10, nil))
        #expect(narrow.columns == 6 && narrow.cell == CellCount(columns: 10, rows: 5))
        #expect(layout(limit: (nil, 3)).cell == CellCount(columns: 18, rows: 3))
        #expect(layout(GridArgument(columns: 3), limit: (10, 4)).cell == CellCount(columns: 10, rows: 4))
        #expect(layout(limit: (200, nil)).cell.columns == 80)
    }

    private let plain = TerminalStyle.plain
    private let colorful = TerminalStyle(isTerminal: true, hasColor: true, columns: 80, rows: 24)

    private func row(_ items: [GridItem], columns: Int, rows: Int = 4) -> GridRow {
        let cell = CellCount(columns: columns, rows: rows)
        return GridRow(
            items, layout: layout(GridArgument(columns: items.count), limit: (columns, rows)),
            drawing: TerminalDrawing(grid: CellGrid(style: .symbols, limit: cell, cell: nil), colors: 0))
    }

    @Test("Images of different heights end above their names, and each one is centered")
    func alignment() throws {
        let row = row(
            [
                GridItem(name: "wide.png", content: .text(["abcdefgh"], columns: 8)),
                GridItem(name: "b", content: .text(["12", "34", "56"], columns: 2)),
                GridItem(name: "c.png", content: .failed(reason: "the file doesn't exist")),
            ], columns: 8)
        #expect(row.height == 3)
        let blank = String(repeating: " ", count: 13)
        #expect(
            try row.images(plain).split(separator: "\n") == [
                "\(blank)12      ✗ the", "\(blank)34       file", "abcdefgh     56     doesn't…",
            ])
        #expect(row.names(plain) == "wide.png     b       c.png")
    }

    @Test("Colors end with each image, messages are red, and names are dim")
    func colors() throws {
        let row = row(
            [
                GridItem(name: "a", content: .text(["\u{1B}[31mxx"], columns: 2)),
                GridItem(name: "b", content: .failed(reason: "bad")),
            ], columns: 5)
        #expect(try row.images(colorful) == " \u{1B}[31mxx\u{1B}[0m    \u{1B}[31m✗ bad\u{1B}[0m")
        #expect(row.names(colorful) == "  \u{1B}[2ma\u{1B}[0m      \u{1B}[2mb\u{1B}[0m")
    }

    @Test("Names are truncated to their cell, and unsafe characters are replaced")
    func names() {
        let row = row(
            [
                GridItem(name: "a-very-long-name.jpeg", content: .text(["x"], columns: 1)),
                GridItem(name: "日本語の写真.png", content: .text(["x"], columns: 1)),
                GridItem(name: "a\u{1B}[2J\n\u{10FEFF}.png", content: .text(["x"], columns: 1)),
            ], columns: 10)
        #expect(row.names(plain) == "a-ver…jpeg  日本….png   a�[2J….png")
    }

    @Test("A message has at most three lines, and fits into its cell")
    func messages() throws {
        let reason = "one two three four five six seven incomprehensible"
        let lines = try row([GridItem(name: "a", content: .failed(reason: reason))], columns: 6).images(plain)
        #expect(lines == "✗ one\n two\nthree…")
        let low = row([GridItem(name: "a", content: .failed(reason: "incomprehensible"))], columns: 6, rows: 1)
        #expect(try low.images(plain) == "  ✗…")
    }
}
