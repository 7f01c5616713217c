// SPDX-License-Identifier: MIT

import CTerminal
import Glibc
import WebImageCore

/// Emphasis of a piece of text (ECMA-48 8.3.117, SGR).
package enum Emphasis: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
}

/// What the place that text goes to can show.
package struct TerminalStyle: Sendable, Hashable {
    /// Whether it is a terminal, where lines can be written again.
    package var isTerminal: Bool
    /// Whether colours are wanted and shown.
    package var hasColor: Bool
    /// Columns; 100 where there is no terminal.
    package var columns: Int
    /// Rows; 24 where there is no terminal.
    package var rows: Int

    package init(isTerminal: Bool, hasColor: Bool, columns: Int, rows: Int) {
        self.isTerminal = isTerminal
        self.hasColor = hasColor
        self.columns = columns
        self.rows = rows
    }

    /// A pipe or a file.
    package static let plain = TerminalStyle(isTerminal: false, hasColor: false, columns: .max, rows: 24)

    /// What `descriptor` is now. `NO_COLOR` (no-color.org) and `TERM=dumb` switch colours off.
    package init(descriptor: Int32, environment: [String: String]) {
        var columns: Int32 = 0
        var rows: Int32 = 0
        let isDumb = environment["TERM"] == "dumb"
        guard isatty(descriptor) == 1 else {
            self = .plain
            return
        }
        if !wi_terminal_size(descriptor, &columns, &rows) { (columns, rows) = (80, 24) }
        self.init(
            isTerminal: !isDumb, hasColor: !isDumb && (environment["NO_COLOR"] ?? "").isEmpty, columns: Int(columns),
            rows: Int(rows))
    }

    /// Pixels of one character cell of the terminal behind `descriptor`; nil where it does not tell.
    package static func cell(of descriptor: Int32) -> PixelSize? {
        var (columns, rows, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        guard wi_terminal_size(descriptor, &columns, &rows), wi_terminal_pixels(descriptor, &width, &height),
            rows > 0, width >= columns, height >= rows
        else { return nil }
        // A terminal that says more than this of a cell is mistaken.
        return PixelSize(width: min(Int(width / columns), 100), height: min(Int(height / rows), 200))
    }

    /// `text` with emphasis where colours are shown.
    package func apply(_ emphasis: Emphasis?, to text: String) -> String {
        guard hasColor, let emphasis, !text.isEmpty else { return text }
        return "\u{1B}[\(emphasis.rawValue)m\(text)\u{1B}[0m"
    }
}
