// SPDX-License-Identifier: MIT

/// Rows of a terminal that are drawn into again and again, or whose end the cursor must find by itself.
package struct ScreenArea: Sendable, Hashable {
    package let rows: Int

    package init(rows: Int) { self.rows = rows }

    /// Makes room, scrolling where needed, and remembers where it begins (DECSC).
    package var opening: String { String(repeating: "\n", count: rows) + "\u{1B}[\(rows)A\u{1B}7" }
    /// Back to where it begins (DECRC).
    package var start: String { "\u{1B}8" }
    /// The line below, in the terminal's own colours.
    package var closing: String { "\u{1B}8\u{1B}[0m\u{1B}[\(rows)B" }

    package static let cursorHidden = "\u{1B}[?25l"
    package static let cursorShown = "\u{1B}[?25h"
}
