// SPDX-License-Identifier: MIT

/// A table with aligned columns that fits into the width of the terminal. If there isn't enough space, some columns are
/// truncated, and the least important columns are omitted.
package struct TextTable: Sendable {
    /// A column.
    package struct Column: Sendable {
        package var title: String
        /// Whether cells are aligned to the right, as for numbers.
        package var isNumeric: Bool
        /// The minimum width to which the column can be truncated, or `nil` if it can't be truncated.
        package var shrinksTo: Int?
        /// The order in which columns are omitted, starting at 1, or `nil` if the column is never omitted.
        package var omissionOrder: Int?

        package init(_ title: String, isNumeric: Bool = false, shrinksTo: Int? = nil, omissionOrder: Int? = nil) {
            self.title = title
            self.isNumeric = isNumeric
            self.shrinksTo = shrinksTo
            self.omissionOrder = omissionOrder
        }
    }

    /// A cell.
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
        /// A first cell with a remark that spans all other columns.
        case note(Cell, Cell)
    }

    package let columns: [Column]
    private var rows: [Row] = []

    package init(_ columns: [Column]) { self.columns = columns }

    package var isEmpty: Bool { rows.isEmpty }

    /// Adds a row. Missing cells are empty.
    package mutating func add(_ cells: [Cell]) {
        rows.append(.cells((cells + Array(repeating: "", count: columns.count)).prefix(columns.count) + []))
    }

    /// Adds a row whose second cell spans all columns except the first.
    package mutating func add(_ first: Cell, note: Cell) { rows.append(.note(first, note)) }

    /// Returns the lines of the table, which begin with the titles.
    package func lines(_ style: TerminalStyle) -> [String] {
        let layout = layout(style.columns)
        let titles = columns.map { Cell($0.title, .dim) }
        return [line(titles, layout, style)]
            + rows.map { row in
                switch row {
                case .cells(let cells): line(cells, layout, style)
                case .note(let first, let note): noteLine(first, note, layout, style)
                }
            }
    }

    private static let gap = 2

    /// The index and the width of each visible column.
    private typealias Layout = [(column: Int, width: Int)]

    private func layout(_ available: Int) -> Layout {
        var layout = Array(naturalWidths.enumerated()).map { (column: $0.offset, width: $0.element) }
        func excess() -> Int {
            layout.reduce(0) { $0 + $1.width } + Self.gap * max(0, layout.count - 1) - available
        }
        func slack() -> Int {
            layout.reduce(0) { $0 + max(0, $1.width - (columns[$1.column].shrinksTo ?? $1.width)) }
        }
        for (index, _) in columns.enumerated().filter({ $1.omissionOrder != nil }).sorted(by: {
            ($0.element.omissionOrder ?? 0) < ($1.element.omissionOrder ?? 0)
        }) where excess() > slack() {
            layout.removeAll { $0.column == index }
        }
        for index in layout.indices {
            guard let least = columns[layout[index].column].shrinksTo, layout[index].width > least else { continue }
            layout[index].width -= min(max(0, excess()), layout[index].width - least)
        }
        // If the terminal is extremely narrow, truncate the first column because wrapped lines would be worse.
        if let first = layout.first { layout[0].width = max(4, first.width - max(0, excess())) }
        return layout
    }

    private var naturalWidths: [Int] {
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
        return widths
    }

    private func line(_ cells: [Cell], _ layout: Layout, _ style: TerminalStyle) -> String {
        layout.enumerated().map { place, entry in
            rendered(
                cells[entry.column], entry.width, column: columns[entry.column], isLast: place == layout.count - 1,
                style)
        }.joined(separator: String(repeating: " ", count: Self.gap))
    }

    private func rendered(
        _ cell: Cell, _ width: Int, column: Column, isLast: Bool, _ style: TerminalStyle
    ) -> String {
        let text = DisplayText.truncated(cell.text, to: width, inMiddle: true)
        let blanks = String(repeating: " ", count: max(0, width - DisplayText.width(text)))
        let styled = style.apply(cell.emphasis, to: text)
        if column.isNumeric { return blanks + styled }
        return isLast ? styled : styled + blanks
    }

    private func noteLine(_ first: Cell, _ note: Cell, _ layout: Layout, _ style: TerminalStyle) -> String {
        let width = layout.first?.width ?? 0
        let head = rendered(first, width, column: Column(""), isLast: false, style)
        let room = max(0, style.columns - width - Self.gap)
        return head + String(repeating: " ", count: Self.gap)
            + style.apply(note.emphasis, to: DisplayText.truncated(note.text, to: room))
    }
}
