// SPDX-License-Identifier: MIT

import CTerminal
import WebImageCore

/// The capabilities of the terminal, which libchafa determines from the environment of the process.
package struct TerminalAbilities: Sendable, Hashable {
    package var hasSixels: Bool
    package var hasKitty: Bool
    /// The number of colors: 0, 16, 256, or 16,777,216.
    package var colors: Int

    package init(hasSixels: Bool, hasKitty: Bool, colors: Int) {
        self.hasSixels = hasSixels
        self.hasKitty = hasKitty
        self.colors = colors
    }

    /// The capabilities according to `TERM`, `COLORTERM`, `TERM_PROGRAM`, and similar variables.
    package static var current: TerminalAbilities {
        let found = wi_terminal_abilities_now()
        return TerminalAbilities(hasSixels: found.sixels, hasKitty: found.kitty, colors: Int(found.colors))
    }

    /// The style with the highest quality that the terminal supports.
    package var best: ShowStyle { hasKitty ? .kitty : hasSixels ? .sixels : .symbols }
}

/// A renderer that draws images as terminal text.
package struct TerminalDrawing: Sendable, Hashable {
    package let grid: CellGrid
    /// The number of colors, as in ``TerminalAbilities/colors``. With 0, the text contains no control sequences.
    package let colors: Int

    package init(grid: CellGrid, colors: Int) {
        self.grid = grid
        self.colors = colors
    }

    /// Returns the text that shows `pixels` in `cells`. Rows are separated by line feeds, without one at the end.
    /// Blocks. Throws ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    package func text(_ pixels: CellPixels, cells: CellCount) throws(ImageError) -> String {
        let style: wi_draw_style =
            switch grid.style {
            case .symbols: WI_DRAW_SYMBOLS
            case .sixels: WI_DRAW_SIXELS
            case .kitty: WI_DRAW_KITTY
            }
        var drawing = wi_drawing(
            style: style, colors: Int32(colors), columns: Int32(cells.columns), rows: Int32(cells.rows),
            cell_width: Int32(grid.cell.width), cell_height: Int32(grid.cell.height))
        var length = 0
        guard
            let text = wi_draw_picture(&drawing, pixels.bytes, Int32(pixels.width), Int32(pixels.height), &length)
        else { throw .decoding(.outOfMemory(byteCount: pixels.bytes.count)) }
        defer { wi_text_free(text) }
        return String(
            decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
    }
}
