// SPDX-License-Identifier: MIT

import WebImageCore

/// The validated options of `show`.
package struct ShowOptions: Sendable {
    /// The background of transparent pixels.
    package enum Background: Sendable, Hashable {
        /// The background of the terminal.
        case terminal
        case checkerboard
        case color(PixelColor)
    }

    package let inputs: InputArguments
    /// The drawing style, or `nil` to choose the best style for the terminal.
    package let style: ShowStyle?
    /// The grid to show the images in, or `nil` to show them one after another.
    package let grid: GridArgument?
    /// The maximum number of cells of an image. `nil` means the size of the terminal, or of the cell of a grid.
    package let columns: Int?
    package let rows: Int?
    /// The frames to show, or `nil` for all frames.
    package let frames: FrameListArgument?
    /// Whether only the first frame is shown.
    package let isStill: Bool
    /// The number of times to play an animation, where 0 repeats indefinitely. `nil` means the loop count of the file.
    package let loops: Int?
    package let background: Background
    /// The directory of the disk cache, or `nil` for no disk cache.
    package let cache: String?
    package let network: NetworkArguments

    package init(_ arguments: Arguments) throws(UsageError) {
        inputs = try InputArguments(arguments)
        let styles = ShowStyle.allCases.map(\.rawValue)
        style = try arguments.choice("format", of: ["auto"] + styles).flatMap(ShowStyle.init)
        grid = try GridArgument(arguments)
        (columns, rows) = try arguments.cells()
        frames = try arguments.frameSelection()
        isStill = arguments.has("still")
        loops = try arguments.integer("loop", in: 0...1_000_000)
        background = try arguments.background()
        cache = arguments.last("cache-dir")
        network = try NetworkArguments(arguments)
        if grid != nil, loops != nil { throw UsageError("--grid and --loop can’t be combined") }
        if frames != nil, isStill { throw UsageError("--frames and --still can’t be combined") }
        if loops != nil, isStill { throw UsageError("--loop and --still can’t be combined") }
    }
}

extension Arguments {
    /// Returns the size in the form `COLSxROWS`, `COLSx`, or `xROWS`. Both values are `nil` if the option wasn't
    /// specified.
    fileprivate func cells() throws(UsageError) -> (columns: Int?, rows: Int?) {
        guard let text = last("size") else { return (nil, nil) }
        guard let sides = Self.dimensions(text, in: 1...1_000) else {
            throw UsageError(
                "--size: “\(text)” isn’t valid (use COLSxROWS in character cells, such as 80x24, at most 1000x1000)")
        }
        return sides
    }

    fileprivate func background() throws(UsageError) -> ShowOptions.Background {
        switch last("background") {
        case nil, "terminal": return .terminal
        case "checkerboard": return .checkerboard
        case let text?:
            guard let color = PixelColor(text: text), color.alpha == 255 else {
                throw UsageError("--background: “\(text)” isn’t valid (use terminal, checkerboard, or an opaque color)")
            }
            return .color(color)
        }
    }
}
