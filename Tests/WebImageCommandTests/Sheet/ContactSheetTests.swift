// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Contact sheet")
struct ContactSheetTests {
    @Test("Every printable ASCII character has its own glyph")
    func font() throws {
        let font = SheetFont(art: BitmapFontGlyphs.text)
        let box = try #require(font.glyph(for: "□"))
        for value in UInt8(32)...126 {
            let character = Character(Unicode.Scalar(value))
            let glyph = try #require(font.glyph(for: character))
            #expect(glyph.ink != box.ink, "\(character)")
            #expect(glyph.ink.contains { $0.contains(true) } == (character != " "))
        }
        #expect(font.glyph(for: "é")?.ink == font.glyph(for: "e")?.ink)
        #expect(font.glyph(for: "日")?.ink == box.ink)
    }

    @Test("Text fits its width when it's truncated or wrapped")
    func text() {
        let font = SheetFont.standard
        let long = "a name that goes on and on.jpeg"
        #expect(font.width(of: font.truncated(long, to: 100, scale: 2), scale: 2) <= 100)
        #expect(font.truncated(long, to: 100, scale: 2).contains("…"))
        let lines = font.lines(long, width: 100, scale: 2)
        #expect(lines.joined(separator: " ") == long)
        #expect(lines.allSatisfy { font.width(of: $0, scale: 2) <= 100 })
    }

    @Test("Cards neither overlap nor extend past the sheet", arguments: [0, 1, 2, 5, 12, 29, 200])
    func layout(_ count: Int) {
        let layout = ContactSheetLayout(count: count)
        #expect((1...6).contains(layout.columns))
        let cards = (0..<count).map(layout.card)
        for (index, card) in cards.enumerated() {
            #expect(card.clamped(to: layout.size) == card)
            for other in cards[..<index] {
                let isApart =
                    other.x + other.width <= card.x || card.x + card.width <= other.x
                    || other.y + other.height <= card.y || card.y + card.height <= other.y
                #expect(isApart)
            }
        }
    }

    @Test("A sheet is opaque, shows its images, and doesn't enlarge them")
    func drawing() throws {
        let canvas = try PixelCanvas(size: PixelSize(width: 100, height: 100))
        canvas.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = index % 4 == 1 || index % 4 == 3 ? 255 : 0 }
        }
        let sheet = ContactSheet(
            title: "T", subtitle: "",
            tiles: [
                .init(
                    name: "green.png", detail: "100×100", content: .image(canvas.finish(isOpaque: true), frames: 3)),
                .init(name: "broken.png", detail: "error 4001", content: .failed(reason: "The data is empty.")),
            ])
        let pixels = try sheet.draw()
        let layout = ContactSheetLayout(count: 2)
        #expect(pixels.size == layout.size)
        #expect(pixels.isOpaque)
        let box = layout.thumbnail(in: layout.card(at: 0))
        let middle = try #require(pixels.pixel(x: box.x + box.width / 2, y: box.y + box.height / 2))
        #expect(middle == (0, 255, 0, 255))
        // The image isn't enlarged, so this pixel to its left belongs to the card.
        let beside = try #require(pixels.pixel(x: box.x + 5, y: box.y + box.height / 2))
        #expect(beside.green < 60)
        #expect(try #require(pixels.pixel(x: 0, y: 0)).alpha == 255)
    }
}
