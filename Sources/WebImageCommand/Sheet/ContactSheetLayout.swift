// SPDX-License-Identifier: MIT

import WebImageCore

/// Where everything of a contact sheet stands, in pixels.
struct ContactSheetLayout: Sendable, Equatable {
    static let margin = 32
    static let gap = 20
    static let header = 84
    /// Room around the picture within its card.
    static let padding = 12
    /// The box that thumbnails fit into.
    static let thumbnail = PixelSize(width: 220, height: 165)
    static let caption = 58
    static let card = PixelSize(
        width: thumbnail.width + 2 * padding, height: thumbnail.height + 2 * padding + caption)

    let columns: Int
    let count: Int

    /// As many columns as make the sheet about one and a half times as wide as high, at most six.
    init(count: Int) {
        self.count = count
        var columns = 1
        while columns < min(6, count), columns * columns * Self.card.width * 2 < count * Self.card.height * 3 {
            columns += 1
        }
        self.columns = columns
    }

    /// Rows of cards.
    var rows: Int { max(1, (count + columns - 1) / columns) }

    /// The whole sheet.
    var size: PixelSize {
        PixelSize(
            width: 2 * Self.margin + columns * (Self.card.width + Self.gap) - Self.gap,
            height: 2 * Self.margin + Self.header + rows * (Self.card.height + Self.gap) - Self.gap)
    }

    /// The card of the tile at `index`.
    func card(at index: Int) -> PixelRect {
        PixelRect(
            x: Self.margin + index % columns * (Self.card.width + Self.gap),
            y: Self.margin + Self.header + index / columns * (Self.card.height + Self.gap),
            width: Self.card.width, height: Self.card.height)
    }

    /// The box of the thumbnail within a card.
    func thumbnail(in card: PixelRect) -> PixelRect {
        PixelRect(
            x: card.x + Self.padding, y: card.y + Self.padding, width: Self.thumbnail.width,
            height: Self.thumbnail.height)
    }
}
