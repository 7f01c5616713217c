// SPDX-License-Identifier: MIT

import CTerminal
import Glibc
import WebImageCore

/// An emphasis of text (ECMA-48, section 8.3.117, SGR).
package enum Emphasis: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
}

/// The value of `--color`.
package enum ColorChoice: String, Sendable, CaseIterable {
    /// Colors on a terminal that supports them.
    case auto
    case always
    case never
}

/// The capabilities of an output.
package struct TerminalStyle: Sendable, Hashable {
    /// Whether the output is a terminal, on which lines can be redrawn.
    package var isTerminal: Bool
    /// Whether colors are supported and enabled.
    package var hasColor: Bool
    /// The number of columns. It's unlimited (`Int.max`) if the output isn't a terminal.
    package var columns: Int
    /// The number of rows. It's 24 if the output isn't a terminal.
    package var rows: Int

    package init(isTerminal: Bool, hasColor: Bool, columns: Int, rows: Int) {
        self.isTerminal = isTerminal
        self.hasColor = hasColor
        self.columns = columns
        self.rows = rows
    }

    /// The style of a pipe or a file.
    package static let plain = TerminalStyle(isTerminal: false, hasColor: false, columns: .max, rows: 24)

    /// Determines the capabilities of `descriptor`. If `color` is ``ColorChoice/auto``, the variables `NO_COLOR`
    /// (no-color.org) and `TERM=dumb` disable colors.
    package init(descriptor: Int32, environment: [String: String], color: ColorChoice = .auto) {
        var columns: Int32 = 0
        var rows: Int32 = 0
        let isDumb = environment["TERM"] == "dumb"
        guard isatty(descriptor) == 1 else {
            self = .plain
            hasColor = color == .always
            return
        }
        if !wi_terminal_size(descriptor, &columns, &rows) { (columns, rows) = (80, 24) }
        let isColorful = !isDumb && (environment["NO_COLOR"] ?? "").isEmpty
        self.init(
            isTerminal: !isDumb, hasColor: color == .always || color == .auto && isColorful, columns: Int(columns),
            rows: Int(rows))
    }

    /// Returns the size of a character cell, in pixels, of the terminal that `descriptor` refers to, or `nil` if the
    /// terminal doesn't report it.
    package static func cell(of descriptor: Int32) -> PixelSize? {
        var (columns, rows, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        guard wi_terminal_size(descriptor, &columns, &rows), wi_terminal_pixels(descriptor, &width, &height),
            rows > 0, width >= columns, height >= rows
        else { return nil }
        // A larger value is an error of the terminal.
        return PixelSize(width: min(Int(width / columns), 100), height: min(Int(height / rows), 200))
    }

    /// Returns `text` with an emphasis if colors are enabled.
    package func apply(_ emphasis: Emphasis?, to text: String) -> String {
        guard hasColor, let emphasis, !text.isEmpty else { return text }
        return "\u{1B}[\(emphasis.rawValue)m\(text)\u{1B}[0m"
    }
}
