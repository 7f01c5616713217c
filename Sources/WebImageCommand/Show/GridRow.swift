// SPDX-License-Identifier: MIT

import WebImageCore

/// An image of a grid.
package struct GridItem: Sendable {
    /// The content above the name.
    package enum Content: Sendable {
        /// An image of characters. Each line occupies this number of columns.
        case text([String], columns: Int)
        /// An image of pixels that fills whole cells.
        case pixels(CellPixels, CellCount)
        /// The reason that there's no image.
        case failed(reason: String)
    }

    package let name: String
    package let content: Content

    package init(name: String, content: Content) {
        self.name = name
        self.content = content
    }

    /// Draws an image in the style of `drawing`, whose limit is the cell of a layout. Blocks. Throws the errors of
    /// ``TerminalDrawing/text(_:cells:)``.
    package init(
        name: String, _ pixels: PixelBuffer, cells: CellCount, on background: ShowOptions.Background,
        _ drawing: TerminalDrawing
    ) throws(ImageError) {
        let straight = try CellPixels(pixels, on: background, grid: drawing.grid, cells: cells)
        guard drawing.grid.style == .symbols else {
            self.init(name: name, content: .pixels(straight, cells))
            return
        }
        let lines = try drawing.text(straight, cells: cells).split(separator: "\n", omittingEmptySubsequences: false)
        self.init(name: name, content: .text(lines.map(String.init), columns: cells.columns))
    }
}

/// A row of images that are drawn next to each other. Each one is centered above its name.
package struct GridRow: Sendable {
    private let items: [GridItem]
    private let layout: GridLayout
    private let drawing: TerminalDrawing

    package init(_ items: [GridItem], layout: GridLayout, drawing: TerminalDrawing) {
        self.items = items
        self.layout = layout
        self.drawing = drawing
    }

    /// The number of terminal rows that the images occupy.
    package var height: Int { items.map(height).max() ?? 0 }

    /// Returns the images as text without a line feed at the end. Emphasis in `style` applies to messages. Blocks. Throws
    /// the errors of ``TerminalDrawing/text(_:cells:)``.
    package func images(_ style: TerminalStyle) throws(ImageError) -> String {
        guard drawing.grid.style != .symbols else { return symbols(style) }
        let cells = CellCount(
            columns: items.count * (layout.cell.columns + GridLayout.gap) - GridLayout.gap, rows: height)
        return try drawing.text(try strip(cells), cells: cells)
    }

    /// Returns the line with the names, which are truncated to the width of their cells.
    package func names(_ style: TerminalStyle) -> String {
        line(
            items.map { item in
                let name = DisplayText.truncated(
                    DisplayText.safe(item.name), to: layout.cell.columns, inMiddle: true)
                return (style.apply(.dim, to: name), DisplayText.width(name))
            })
    }

    // MARK: - Characters

    private func symbols(_ style: TerminalStyle) -> String {
        let columns = items.map { lines($0, style) }
        let height = height
        return (0..<height).map { row in
            // The images end at the line with the names.
            line(columns.map { lines in row < height - lines.count ? ("", 0) : lines[row - height + lines.count] })
        }.joined(separator: "\n")
    }

    /// Returns the lines of an item with their widths.
    private func lines(_ item: GridItem, _ style: TerminalStyle) -> [(text: String, width: Int)] {
        switch item.content {
        case .text(let lines, let columns):
            // Colors must not extend to the next image.
            let reset = "\u{1B}[0m"
            return lines.map { ($0.contains("\u{1B}") && !$0.hasSuffix(reset) ? $0 + reset : $0, columns) }
        case .failed(let reason):
            return message(reason).map { (style.apply(.red, to: $0), DisplayText.width($0)) }
        case .pixels: return []
        }
    }

    /// Returns the lines of the message that replaces an image.
    private func message(_ reason: String) -> [String] {
        let all = TextWrap.lines("✗ \(DisplayText.safe(reason))", width: layout.cell.columns)
        var lines = Array(all.prefix(min(3, layout.cell.rows)))
        if lines.count < all.count, let last = lines.popLast() { lines.append("\(last)…") }
        return lines.map { DisplayText.truncated($0, to: layout.cell.columns) }
    }

    /// Returns a line with centered texts of known widths.
    private func line(_ texts: [(text: String, width: Int)]) -> String {
        var line = ""
        var blanks = 0
        for (index, item) in texts.enumerated() {
            let left = max(0, layout.cell.columns - item.width) / 2
            if index > 0 { blanks += GridLayout.gap }
            if item.text.isEmpty {
                blanks += layout.cell.columns
                continue
            }
            line += String(repeating: " ", count: blanks + left) + item.text
            blanks = max(0, layout.cell.columns - item.width - left)
        }
        return line
    }

    // MARK: - Pixels

    private func height(_ item: GridItem) -> Int {
        switch item.content {
        case .text(let lines, _): lines.count
        case .pixels(_, let cells): cells.rows
        case .failed(let reason): drawing.grid.style == .symbols ? message(reason).count : failureCells.rows
        }
    }

    /// The size of the tile that replaces an image of pixels.
    private var failureCells: CellCount {
        CellCount(columns: layout.cell.columns, rows: max(1, layout.cell.rows * 3 / 4))
    }

    /// Returns the pixels of all images. A single image per row has the same position in every terminal, and moves none
    /// of the text around it.
    private func strip(_ cells: CellCount) throws(ImageError) -> CellPixels {
        let side = drawing.grid.cell
        let width = cells.columns * side.width
        var bytes = [UInt8](repeating: 0, count: width * cells.rows * side.height * 4)
        for (index, item) in items.enumerated() {
            let (pixels, size) = try pixels(of: item)
            let left = index * (layout.cell.columns + GridLayout.gap) + (layout.cell.columns - size.columns) / 2
            let top = (cells.rows - size.rows) * side.height
            for y in 0..<pixels.height {
                let target = ((top + y) * width + left * side.width) * 4
                let source = y * pixels.width * 4
                bytes.replaceSubrange(
                    target..<target + pixels.width * 4, with: pixels.bytes[source..<source + pixels.width * 4])
            }
        }
        return CellPixels(width: width, height: cells.rows * side.height, bytes: bytes)
    }

    private func pixels(of item: GridItem) throws(ImageError) -> (CellPixels, CellCount) {
        switch item.content {
        case .pixels(let pixels, let cells): return (pixels, cells)
        case .text: return (CellPixels(width: 0, height: 0, bytes: []), CellCount(columns: 0, rows: 0))
        case .failed(let reason):
            let side = drawing.grid.cell
            let size = PixelSize(
                width: failureCells.columns * side.width, height: failureCells.rows * side.height)
            let tile = try FailureTile(reason: reason).drawn(size)
            return (
                try CellPixels(tile, on: .terminal, grid: drawing.grid, cells: failureCells), failureCells
            )
        }
    }
}
