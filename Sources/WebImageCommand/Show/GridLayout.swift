// SPDX-License-Identifier: MIT

import WebImageCore

/// The value of `--grid`.
package struct GridArgument: Sendable, Hashable {
    /// The number of images per row, or `nil` if the width of the terminal determines it.
    package let columns: Int?
    /// The number of visible rows, or `nil` if the width of the images determines their height.
    package let rows: Int?

    package init(columns: Int? = nil, rows: Int? = nil) {
        self.columns = columns
        self.rows = rows
    }

    /// Creates the value, or returns `nil` if the option wasn't specified.
    init?(_ arguments: Arguments) throws(UsageError) {
        guard let text = arguments.last("grid") else { return nil }
        guard !text.isEmpty else {
            self.init()
            return
        }
        let sides = text.lowercased().contains("x") ? text : "\(text)x"
        guard let (columns, rows) = Arguments.dimensions(sides, in: 1...100) else {
            throw UsageError(
                "--grid: “\(text)” isn’t valid (use the number of images per row and of rows per screen, such as "
                    + "--grid=4 or --grid=4x3, at most 100x100)")
        }
        self.init(columns: columns, rows: rows)
    }
}

/// The layout of images in rows, in character cells. Spaces separate the images of a row.
package struct GridLayout: Sendable, Hashable {
    /// The number of spaces between images.
    static let gap = 2
    /// The minimum width of an image if the width of the terminal determines the number of images per row.
    private static let minimumWidth = 18
    /// The minimum width of an image in all other cases.
    private static let narrowest = 4
    /// The line with the names, and the empty line between two rows.
    private static let linesPerRow = 2

    /// The number of images per row.
    package let columns: Int
    /// The maximum size of an image.
    package let cell: CellCount

    /// Creates a layout.
    ///
    /// - Parameters:
    ///   - grid: The requested numbers of images.
    ///   - count: The number of all images. Fewer images than fit into a row are larger.
    ///   - limit: The requested maximum size of an image. `nil` means that the layout determines it.
    ///   - screen: The available area.
    ///   - pixels: The size of a character cell in pixels.
    package init(
        _ grid: GridArgument, count: Int, limit: (columns: Int?, rows: Int?) = (nil, nil), screen: CellCount,
        pixels: PixelSize
    ) {
        func fitting(_ width: Int) -> Int { max(1, (screen.columns + Self.gap) / (width + Self.gap)) }
        let automatic = min(fitting(Self.minimumWidth), max(1, count))
        let columns = min(
            grid.columns ?? limit.columns.map(fitting) ?? automatic, fitting(Self.narrowest))
        let room = max(1, (screen.columns - Self.gap * (columns - 1)) / columns)
        let width = min(limit.columns ?? room, room)
        let square = (width * pixels.width + pixels.height - 1) / pixels.height
        let mostRows = max(1, screen.rows / (grid.rows ?? 1) - Self.linesPerRow)
        self.columns = columns
        cell = CellCount(
            columns: width, rows: limit.rows ?? (grid.rows == nil ? min(max(1, square), mostRows) : mostRows))
    }
}
