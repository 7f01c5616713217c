// SPDX-License-Identifier: MIT

import WebImageCore

/// The way in which an image is drawn in a terminal.
package enum ShowStyle: String, Sendable, Hashable, CaseIterable {
    /// Pixels as sixels, which are strips of six rows (DEC STD 070, chapter 9).
    case sixels
    /// Pixels in the kitty graphics protocol.
    case kitty
    /// Block characters with two colors each.
    case symbols
}

/// A number of character cells.
package struct CellCount: Sendable, Hashable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// The area of character cells that's available for an image, and the number of pixels per cell.
package struct CellGrid: Sendable, Hashable {
    package let style: ShowStyle
    /// The maximum number of cells.
    package private(set) var limit: CellCount
    /// The number of pixels that are drawn into one cell.
    package let cell: PixelSize

    /// Creates a grid. `cell` is the size of a cell in the terminal, or `nil` if the terminal doesn't report it.
    package init(style: ShowStyle, limit: CellCount, cell: PixelSize?) {
        self.style = style
        self.limit = limit
        guard style == .symbols else {
            self.cell = cell ?? PixelSize(width: 10, height: 20)
            return
        }
        // Symbols of libchafa are 8 pixels wide. Choose a height that preserves the aspect ratio of the cell.
        let proportion = cell.map { Double($0.height) / Double(max(1, $0.width)) } ?? 2
        self.cell = PixelSize(width: 8, height: Int((8 * min(max(proportion, 0.5), 4)).rounded()))
    }

    /// Returns the grid of an area of a different size.
    package func limited(to limit: CellCount) -> CellGrid {
        var grid = self
        grid.limit = limit
        return grid
    }

    /// The size at which to decode an image.
    package var target: TargetSize {
        .fit(width: Double(limit.columns * cell.width), height: Double(limit.rows * cell.height))
    }

    /// Returns the number of cells that an image occupies. `decoded` is the size of the image decoded to ``target``,
    /// and `natural` is its full size, with the EXIF orientation applied.
    package func cells(decoded: PixelSize, natural: PixelSize) -> CellCount {
        guard style == .symbols else {
            return CellCount(
                columns: (decoded.width + cell.width - 1) / cell.width,
                rows: (decoded.height + cell.height - 1) / cell.height)
        }
        // A vector image has no fixed size, so use the size at which it was decoded.
        let basis = decoded.width > natural.width ? decoded : natural
        let (width, height) = (Double(basis.width), Double(basis.height))
        // Enlarge a pixel to at most one column.
        let factor = min(
            Double(limit.columns * cell.width) / width, Double(limit.rows * cell.height) / height, Double(cell.width))
        func count(_ length: Double, _ side: Int, _ most: Int) -> Int {
            min(most, max(1, Int((length * factor / Double(side)).rounded())))
        }
        return CellCount(
            columns: count(width, cell.width, limit.columns), rows: count(height, cell.height, limit.rows))
    }
}
