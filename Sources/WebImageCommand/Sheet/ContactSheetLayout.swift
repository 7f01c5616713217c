// SPDX-License-Identifier: MIT

import WebImageCore

/// The layout of a contact sheet, in pixels.
struct ContactSheetLayout: Sendable, Equatable {
    static let margin = 32
    static let gap = 20
    static let header = 84
    /// The space between the image and the edge of its card.
    static let padding = 12
    static let thumbnail = PixelSize(width: 220, height: 165)
    static let caption = 58
    static let card = PixelSize(
        width: thumbnail.width + 2 * padding, height: thumbnail.height + 2 * padding + caption)

    let columns: Int
    let count: Int

    /// Creates a layout whose number of columns, at most six, makes the sheet about 1.5 times as wide as high.
    init(count: Int) {
        self.count = count
        var columns = 1
        while columns < min(6, count), columns * columns * Self.card.width * 2 < count * Self.card.height * 3 {
            columns += 1
        }
        self.columns = columns
    }

    var rows: Int { max(1, (count + columns - 1) / columns) }

    var size: PixelSize {
        PixelSize(
            width: 2 * Self.margin + columns * (Self.card.width + Self.gap) - Self.gap,
            height: 2 * Self.margin + Self.header + rows * (Self.card.height + Self.gap) - Self.gap)
    }

    func card(at index: Int) -> PixelRect {
        PixelRect(
            x: Self.margin + index % columns * (Self.card.width + Self.gap),
            y: Self.margin + Self.header + index / columns * (Self.card.height + Self.gap),
            width: Self.card.width, height: Self.card.height)
    }

    func thumbnail(in card: PixelRect) -> PixelRect {
        PixelRect(
            x: card.x + Self.padding, y: card.y + Self.padding, width: Self.thumbnail.width,
            height: Self.thumbnail.height)
    }
}
