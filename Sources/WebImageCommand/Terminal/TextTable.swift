// SPDX-License-Identifier: MIT

/// Rows of aligned columns that keep within a terminal's width: columns that may shrink are cut, never broken.
package struct TextTable: Sendable {
    /// One column.
    package struct Column: Sendable {
        package var title: String
        /// Whether cells stand at the right edge, as numbers do.
        package var isNumeric: Bool
        /// The fewest columns it may be cut to; nil for never cut.
        package var shrinksTo: Int?

        package init(_ title: String, isNumeric: Bool = false, shrinksTo: Int? = nil) {
            self.title = title
            self.isNumeric = isNumeric
            self.shrinksTo = shrinksTo
        }
    }

    /// One cell.
    package struct Cell: Sendable, ExpressibleByStringLiteral {
        package var text: String
        package var emphasis: Emphasis?

        package init(_ text: String, _ emphasis: Emphasis? = nil) {
            self.text = DisplayText.safe(text)
            self.emphasis = emphasis
        }

        package init(stringLiteral value: String) { self.init(value) }
    }

    private enum Row: Sendable {
        case cells([Cell])
        /// A first cell, and a remark across all other columns.
        case note(Cell, Cell)
    }

    package let columns: [Column]
    private var rows: [Row] = []

    package init(_ columns: [Column]) { self.columns = columns }

    package var isEmpty: Bool { rows.isEmpty }

    /// Adds a row; missing cells are empty.
    package mutating func add(_ cells: [Cell]) {
        rows.append(.cells(cells + Array(repeating: "", count: max(0, columns.count - cells.count))))
    }

    /// Adds a row whose second cell takes the place of all columns but the first.
    package mutating func add(_ first: Cell, note: Cell) { rows.append(.note(first, note)) }

    /// The lines, the titles first.
    package func lines(_ style: TerminalStyle) -> [String] {
        let widths = fittedWidths(style.columns)
        let titles = columns.map { Cell($0.title, .dim) }
        return [line(titles, widths, style)]
            + rows.map { row in
                switch row {
                case .cells(let cells): line(cells, widths, style)
                case .note(let first, let note): noteLine(first, note, widths, style)
                }
            }
    }

    private static let gap = 2

    private func fittedWidths(_ available: Int) -> [Int] {
        var widths = columns.map { DisplayText.width($0.title) }
        for row in rows {
            switch row {
            case .cells(let cells):
                for (index, cell) in cells.prefix(columns.count).enumerated() {
                    widths[index] = max(widths[index], DisplayText.width(cell.text))
                }
            case .note(let first, _):
                if !widths.isEmpty { widths[0] = max(widths[0], DisplayText.width(first.text)) }
            }
        }
        var excess = widths.reduce(0, +) + Self.gap * max(0, columns.count - 1) - available
        for (index, column) in columns.enumerated() {
            guard excess > 0, let least = column.shrinksTo, widths[index] > least else { continue }
            let cut = min(excess, widths[index] - least)
            widths[index] -= cut
            excess -= cut
        }
        return widths
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ style: TerminalStyle) -> String {
        var text = ""
        for (index, cell) in cells.prefix(columns.count).enumerated() {
            if index > 0 { text += String(repeating: " ", count: Self.gap) }
            text += shown(cell, widths[index], column: columns[index], isLast: index == columns.count - 1, style)
        }
        return text
    }

    private func shown(
        _ cell: Cell, _ width: Int, column: Column, isLast: Bool, _ style: TerminalStyle
    ) -> String {
        let text = DisplayText.truncated(cell.text, to: width, inMiddle: true)
        let blanks = String(repeating: " ", count: max(0, width - DisplayText.width(text)))
        let styled = style.apply(cell.emphasis, to: text)
        if column.isNumeric { return blanks + styled }
        return isLast ? styled : styled + blanks
    }

    private func noteLine(_ first: Cell, _ note: Cell, _ widths: [Int], _ style: TerminalStyle) -> String {
        let head = shown(first, widths.first ?? 0, column: Column(""), isLast: false, style)
        let gap = String(repeating: " ", count: Self.gap)
        let left = style.columns - (widths.first ?? 0) - Self.gap
        return head + gap + style.apply(note.emphasis, to: DisplayText.truncated(note.text, to: max(20, left)))
    }
}
