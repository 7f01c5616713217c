// SPDX-License-Identifier: MIT

import WebImageCore

/// An opaque canvas for shapes, text, and images. Drawing is clipped to its bounds.
struct SheetCanvas: ~Copyable {
    private let canvas: PixelCanvas

    init(size: PixelSize, background: PixelColor) throws(ImageError) {
        canvas = try PixelCanvas(size: size)
        paint(PixelRect(x: 0, y: 0, width: size.width, height: size.height), background) { _, _ in 1 }
    }

    consuming func finish() -> PixelBuffer { canvas.finish(isOpaque: true) }

    /// Paints `rect` with `color`. `coverage` returns the opacity, from 0 to 1, for the center of a pixel relative to
    /// the origin of the rectangle.
    borrowing func paint(_ rect: PixelRect, _ color: PixelColor, coverage: (Double, Double) -> Double) {
        guard let visible = rect.clamped(to: canvas.size) else { return }
        let strength = Double(color.alpha) / 255
        for y in visible.y..<(visible.y + visible.height) {
            let row = canvas.baseAddress + y * canvas.bytesPerRow
            for x in visible.x..<(visible.x + visible.width) {
                let share = strength * coverage(Double(x - rect.x) + 0.5, Double(y - rect.y) + 0.5)
                guard share > 0 else { continue }
                let pixel = (row + x * 4).assumingMemoryBound(to: UInt8.self)
                Self.mix(pixel, color.red, share)
                Self.mix(pixel + 1, color.green, share)
                Self.mix(pixel + 2, color.blue, share)
                pixel[3] = 255
            }
        }
    }

    borrowing func paintRounded(_ rect: PixelRect, radius: Double, _ color: PixelColor) {
        let (width, height) = (Double(rect.width), Double(rect.height))
        paint(rect, color) { x, y in
            let dx = max(radius - x, x - (width - radius), 0)
            let dy = max(radius - y, y - (height - radius), 0)
            return min(1, max(0, radius - (dx * dx + dy * dy).squareRoot() + 0.5))
        }
    }

    /// Paints an x-mark with rounded ends that fills `rect`.
    borrowing func paintCross(_ rect: PixelRect, thickness: Double, _ color: PixelColor) {
        let side = Double(min(rect.width, rect.height))
        let half = thickness / 2
        paint(rect, color) { x, y in
            let nearest = min(
                Self.distance(x, y, from: half, half, to: side - half, side - half),
                Self.distance(x, y, from: side - half, half, to: half, side - half))
            return min(1, max(0, half - nearest + 0.5))
        }
    }

    /// Draws a premultiplied image over the canvas.
    borrowing func draw(_ pixels: PixelBuffer, x left: Int, y top: Int) {
        let place = PixelRect(x: left, y: top, width: pixels.width, height: pixels.height)
        guard pixels.format == .rgba8, let visible = place.clamped(to: canvas.size) else { return }
        pixels.withUnsafeBytes { source in
            for y in visible.y..<(visible.y + visible.height) {
                for x in visible.x..<(visible.x + visible.width) {
                    let from = (y - top) * pixels.bytesPerRow + (x - left) * 4
                    let to = (canvas.baseAddress + y * canvas.bytesPerRow + x * 4).assumingMemoryBound(to: UInt8.self)
                    let rest = 255 - Int(source[from + 3])
                    for channel in 0..<3 {
                        let under = (Int(to[channel]) * rest + 127) / 255
                        to[channel] = UInt8(clamping: Int(source[from + channel]) + under)
                    }
                }
            }
        }
    }

    /// Draws a line of text. `y` is the top edge of capital letters.
    borrowing func draw(_ text: String, x: Double, y: Int, scale: Double, _ color: PixelColor) {
        var left = x
        for character in text {
            guard let glyph = SheetFont.standard.glyph(for: character) else { continue }
            draw(glyph, x: left, y: y, scale: scale, color)
            left += Double(glyph.width + 1) * scale
        }
    }

    private borrowing func draw(_ glyph: SheetFont.Glyph, x: Double, y: Int, scale: Double, _ color: PixelColor) {
        // The ink has a margin of one dot on both sides.
        let origin = x - scale
        let rect = PixelRect(
            x: Int(origin.rounded(.down)), y: y, width: Int((Double(glyph.width + 2) * scale).rounded(.up)) + 1,
            height: Int((Double(BitmapFontGlyphs.rows) * scale).rounded(.up)))
        let shift = Double(rect.x) - origin
        let step = 8 / scale
        paint(rect, color) { centerX, centerY in
            Self.inked(
                glyph.ink, columns: (centerX - 0.5 + shift) * step, rows: (centerY - 0.5) * step, extent: step)
        }
    }

    /// Returns the share of ink in a square of `extent` fine dots, from 4 × 4 samples.
    private static func inked(_ ink: [[Bool]], columns: Double, rows: Double, extent: Double) -> Double {
        var count = 0
        for i in 0..<4 {
            let y = Int((rows + (Double(i) + 0.5) * extent / 4).rounded(.down))
            guard ink.indices.contains(y) else { continue }
            for j in 0..<4 {
                let x = Int((columns + (Double(j) + 0.5) * extent / 4).rounded(.down))
                if ink[y].indices.contains(x), ink[y][x] { count += 1 }
            }
        }
        return Double(count) / 16
    }

    private static func mix(_ channel: UnsafeMutablePointer<UInt8>, _ value: UInt8, _ share: Double) {
        let under = Double(channel.pointee)
        channel.pointee = UInt8(clamping: Int((under + (Double(value) - under) * share).rounded()))
    }

    private static func distance(
        _ x: Double, _ y: Double, from startX: Double, _ startY: Double, to endX: Double, _ endY: Double
    ) -> Double {
        let (dx, dy) = (endX - startX, endY - startY)
        let along = ((x - startX) * dx + (y - startY) * dy) / (dx * dx + dy * dy)
        let place = min(1, max(0, along))
        let (restX, restY) = (x - startX - place * dx, y - startY - place * dy)
        return (restX * restX + restY * restY).squareRoot()
    }
}
