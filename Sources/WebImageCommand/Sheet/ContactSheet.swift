// SPDX-License-Identifier: MIT

import WebImageCore

/// A contact sheet, which shows images on cards with captions. Drawing blocks, so call it on a worker thread.
package struct ContactSheet: Sendable {
    /// A card.
    package struct Tile: Sendable {
        /// The content of a card.
        package enum Content: Sendable {
            /// An image. For an animation, it's the poster frame with a badge that shows the number of frames.
            case image(PixelBuffer, frames: Int)
            /// An x-mark with the reason that there's no image.
            case failed(reason: String)
        }

        package let name: String
        package let detail: String
        package let content: Content

        package init(name: String, detail: String, content: Content) {
            self.name = name
            self.detail = detail
            self.content = content
        }
    }

    package let title: String
    package let subtitle: String
    package let tiles: [Tile]

    package init(title: String, subtitle: String, tiles: [Tile]) {
        self.title = title
        self.subtitle = subtitle
        self.tiles = tiles
    }

    private enum Palette {
        static let page = PixelColor(red: 24, green: 26, blue: 31)
        static let card = PixelColor(red: 36, green: 39, blue: 46)
        static let ink = PixelColor(red: 232, green: 234, blue: 239)
        static let faint = PixelColor(red: 146, green: 152, blue: 166)
        static let badge = PixelColor(red: 12, green: 13, blue: 16, alpha: 190)
        static let lightSquare = PixelColor(red: 66, green: 70, blue: 79)
        static let darkSquare = PixelColor(red: 54, green: 57, blue: 65)
    }

    private static let radius = 10.0

    /// Draws the sheet. Throws ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``, or an error from
    /// resampling.
    package func draw(context: ImageProcessingContext = ImageProcessingContext()) throws(ImageError) -> PixelBuffer {
        let layout = ContactSheetLayout(count: tiles.count)
        let canvas = try SheetCanvas(size: layout.size, background: Palette.page)
        let left = Double(ContactSheetLayout.margin)
        canvas.draw(title, x: left, y: ContactSheetLayout.margin, scale: 4, Palette.ink)
        let width = Double(layout.size.width) - 2 * left
        canvas.draw(
            SheetFont.standard.truncated(subtitle, to: width, scale: 2), x: left, y: ContactSheetLayout.margin + 46,
            scale: 2, Palette.faint)
        for (index, tile) in tiles.enumerated() {
            try draw(tile, layout.card(at: index), layout, canvas, context)
        }
        return canvas.finish()
    }

    private func draw(
        _ tile: Tile, _ card: PixelRect, _ layout: ContactSheetLayout, _ canvas: borrowing SheetCanvas,
        _ context: ImageProcessingContext
    ) throws(ImageError) {
        canvas.paintRounded(card, radius: Self.radius + 4, Palette.card)
        let box = layout.thumbnail(in: card)
        let font = SheetFont.standard
        var color = Palette.faint
        switch tile.content {
        case .image(let pixels, let frames):
            let place = try draw(pixels, in: box, canvas, context)
            if frames > 1 { drawBadge("▶ \(frames)", in: place, canvas) }
        case .failed(let reason):
            FailureTile(reason: reason).draw(in: box, on: canvas)
            color = FailureTile.cross
        }
        let (x, width) = (Double(box.x), Double(box.width))
        let y = box.y + box.height + 14
        canvas.draw(font.truncated(tile.name, to: width, scale: 2), x: x, y: y, scale: 2, Palette.ink)
        canvas.draw(font.truncated(tile.detail, to: width, scale: 1.5), x: x, y: y + 26, scale: 1.5, color)
    }

    /// Draws an image in the center of `box` and returns its rectangle.
    private func draw(
        _ pixels: PixelBuffer, in box: PixelRect, _ canvas: borrowing SheetCanvas, _ context: ImageProcessingContext
    ) throws(ImageError) -> PixelRect {
        let target = TargetSize.fit(width: Double(box.width), height: Double(box.height))
        let plan = try target.plan(for: pixels.size)
        var thumbnail = try Resampler.resample(pixels, window: plan.window, to: plan.output, context: context)
        let place = PixelRect(
            x: box.x + (box.width - thumbnail.width) / 2, y: box.y + (box.height - thumbnail.height) / 2,
            width: thumbnail.width, height: thumbnail.height)
        let radius = min(Self.radius, Double(min(place.width, place.height)) / 6)
        if !thumbnail.isOpaque { drawChecks(place, radius: radius, canvas) }
        let corners = RoundedCornersTransformer(radius: radius)
        thumbnail = try corners.transform(thumbnail, context: context)
        canvas.draw(thumbnail, x: place.x, y: place.y)
        return place
    }

    /// Draws the background of a transparent image.
    private func drawChecks(_ place: PixelRect, radius: Double, _ canvas: borrowing SheetCanvas) {
        canvas.paintRounded(place, radius: radius, Palette.darkSquare)
        let (width, height) = (Double(place.width), Double(place.height))
        canvas.paint(place, Palette.lightSquare) { x, y in
            guard (Int(x) / 10 + Int(y) / 10).isMultiple(of: 2) else { return 0 }
            let dx = max(radius - x, x - (width - radius), 0)
            let dy = max(radius - y, y - (height - radius), 0)
            return min(1, max(0, radius - (dx * dx + dy * dy).squareRoot() + 0.5))
        }
    }

    private func drawBadge(_ text: String, in place: PixelRect, _ canvas: borrowing SheetCanvas) {
        let scale = 1.5
        let width = Int(SheetFont.standard.width(of: text, scale: scale).rounded(.up)) + 18
        let pill = PixelRect(x: place.x + place.width - width - 8, y: place.y + 8, width: width, height: 23)
        canvas.paintRounded(pill, radius: 11.5, Palette.badge)
        canvas.draw(text, x: Double(pill.x) + 9, y: pill.y + 6, scale: scale, Palette.ink)
    }
}
