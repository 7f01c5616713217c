// SPDX-License-Identifier: MIT

/// An area of terminal rows that's redrawn in place, or after which the cursor must be positioned explicitly.
package struct ScreenArea: Sendable, Hashable {
    package let rows: Int

    package init(rows: Int) { self.rows = rows }

    /// Reserves the rows, which may scroll the terminal, and saves the position of the first row (DECSC).
    package var opening: String { String(repeating: "\n", count: rows) + "\u{1B}[\(rows)A\u{1B}7" }
    /// Moves the cursor to the first row (DECRC).
    package var start: String { "\u{1B}8" }
    /// Moves the cursor to the line below the area and resets the colors.
    package var closing: String { "\u{1B}8\u{1B}[0m\u{1B}[\(rows)B" }

    package static let cursorHidden = "\u{1B}[?25l"
    package static let cursorShown = "\u{1B}[?25h"
}
