// SPDX-License-Identifier: MIT

import WebImageCore

/// How a picture becomes text.
package enum ShowStyle: String, Sendable, Hashable, CaseIterable {
    /// Pixels as six-row strips (DEC STD 070, chapter 9).
    case sixels
    /// Pixels through kitty's graphics protocol.
    case kitty
    /// Block characters in two colours each.
    case symbols
}

/// Character cells.
package struct CellCount: Sendable, Hashable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// The cells a picture may take, and the pixels of each.
package struct CellGrid: Sendable, Hashable {
    package let style: ShowStyle
    /// At most so many cells.
    package let limit: CellCount
    /// Pixels that are drawn into one cell.
    package let cell: PixelSize

    /// `cell` is the terminal's own; nil where it does not tell.
    package init(style: ShowStyle, limit: CellCount, cell: PixelSize?) {
        self.style = style
        self.limit = limit
        guard style == .symbols else {
            self.cell = cell ?? PixelSize(width: 10, height: 20)
            return
        }
        // libchafa's symbols are 8 pixels wide; the height keeps the cell's proportions.
        let proportion = cell.map { Double($0.height) / Double(max(1, $0.width)) } ?? 2
        self.cell = PixelSize(width: 8, height: Int((8 * min(max(proportion, 0.5), 4)).rounded()))
    }

    /// What a picture is to be decoded at.
    package var target: TargetSize {
        .fit(width: Double(limit.columns * cell.width), height: Double(limit.rows * cell.height))
    }

    /// The cells a picture takes.
    ///
    /// - Parameters:
    ///   - decoded: its size as decoded to ``target``.
    ///   - natural: its own, upright.
    package func cells(decoded: PixelSize, natural: PixelSize) -> CellCount {
        guard style == .symbols else {
            return CellCount(
                columns: (decoded.width + cell.width - 1) / cell.width,
                rows: (decoded.height + cell.height - 1) / cell.height)
        }
        // Drawings without a size of their own are as large as they were made.
        let basis = decoded.width > natural.width ? decoded : natural
        let (width, height) = (Double(basis.width), Double(basis.height))
        // A pixel is enlarged to one column, but no further.
        let factor = min(
            Double(limit.columns * cell.width) / width, Double(limit.rows * cell.height) / height, Double(cell.width))
        func count(_ length: Double, _ side: Int, _ most: Int) -> Int {
            min(most, max(1, Int((length * factor / Double(side)).rounded())))
        }
        return CellCount(
            columns: count(width, cell.width, limit.columns), rows: count(height, cell.height, limit.rows))
    }
}
