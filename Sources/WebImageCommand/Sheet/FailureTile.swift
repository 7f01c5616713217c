// SPDX-License-Identifier: MIT

import WebImageCore

/// A tile that replaces an image: an x-mark with the reason that there's no image.
struct FailureTile: Sendable {
    static let cross = PixelColor(red: 224, green: 108, blue: 117)
    private static let background = PixelColor(red: 48, green: 40, blue: 45)
    private static let ink = PixelColor(red: 146, green: 152, blue: 166)
    private static let radius = 10.0
    /// The space between the x-mark and the text, and the height of a line.
    private static let (gap, lineHeight) = (20, 19)

    let reason: String

    /// Returns the tile as an image. Throws ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    func drawn(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        let canvas = try SheetCanvas(size: size, background: Self.background)
        draw(in: PixelRect(x: 0, y: 0, width: size.width, height: size.height), on: canvas)
        return canvas.finish()
    }

    /// Draws the tile. A low tile has fewer lines of text, and a smaller x-mark.
    func draw(in box: PixelRect, on canvas: borrowing SheetCanvas) {
        canvas.paintRounded(box, radius: Self.radius, Self.background)
        let font = SheetFont.standard
        let width = Double(box.width) - 32
        let side = max(1, min(44, box.height - 8, box.width - 8))
        let room = max(0, min(3, (box.height - side - Self.gap) / Self.lineHeight))
        let lines = font.lines(reason, width: width, scale: 1.5).prefix(room)
        let height = side + (lines.isEmpty ? 0 : Self.gap + lines.count * Self.lineHeight)
        let top = box.y + (box.height - height) / 2
        let cross = PixelRect(x: box.x + (box.width - side) / 2, y: top, width: side, height: side)
        canvas.paintCross(cross, thickness: 6, Self.cross)
        for (index, line) in lines.enumerated() {
            let shown = font.truncated(line, to: width, scale: 1.5)
            let x = Double(box.x) + (Double(box.width) - font.width(of: shown, scale: 1.5)) / 2
            canvas.draw(
                shown, x: x, y: top + side + Self.gap + index * Self.lineHeight, scale: 1.5, Self.ink)
        }
    }
}
