// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Shapes")
struct ShapeTests {
    private let context = ImageProcessingContext()
    private let red = PixelColor(red: 255, green: 0, blue: 0)

    private func run(_ transformer: any ImageTransformer, _ pixels: PixelBuffer) throws -> PixelBuffer {
        try transformer.transform(pixels, context: context)
    }

    private func white(_ width: Int, _ height: Int) throws -> PixelBuffer {
        try PixelMaking.buffer(width, height, isOpaque: true) { _, _ in [255, 255, 255, 255] }
    }

    private func color(_ pixels: PixelBuffer, _ x: Int, _ y: Int) -> PixelColor? {
        pixels.color(x: x, y: y)
    }

    @Test("A flip exchanges the sides and keeps every pixel", arguments: FlipTransformer.Direction.allCases)
    func flips(_ direction: FlipTransformer.Direction) throws {
        let source = try PixelMaking.noise(13, 8, opaque: true, seed: 2)
        let result = try run(.flip(direction), source)
        #expect(result.isOpaque && result.size == source.size)
        for y in 0..<8 {
            for x in 0..<13 {
                let column = direction == .vertical ? x : 12 - x
                let row = direction == .horizontal ? y : 7 - y
                #expect(color(result, x, y) == color(source, column, row))
            }
        }
        #expect(try run(.flip(direction), result).packedBytes() == source.packedBytes())
    }

    @Test("Padding and insets move each edge independently")
    func pads() throws {
        let source = try PixelMaking.noise(6, 5, opaque: true, seed: 2)
        let result = try run(
            .pad(.init(top: 2, leading: -1, bottom: -2, trailing: 3), color: red), source)
        #expect(result.size == PixelSize(width: 8, height: 5))
        #expect(result.isOpaque)
        for y in 0..<5 {
            for x in 0..<8 {
                let inside = x < 5 && y >= 2
                #expect(color(result, x, y) == (inside ? color(source, x + 1, y - 2) : red))
            }
        }
        #expect(try !run(.pad(1), source).isOpaque)
        #expect(try run(.pad(.init()), source) === source)
        #expect(
            try run(.inset(2), source).packedBytes()
                == run(.crop(x: 2, y: 2, width: 2, height: 1), source).packedBytes())
        #expect(try run(.inset(1), source).isOpaque)
        #expect(
            try PadTransformer(.init(all: 1.5), unit: .points).transform(
                source, context: ImageProcessingContext(scale: 2)
            ).size == PixelSize(width: 12, height: 11))
        for gone in [StandardTransformer.inset(3), .pad(.init(leading: -6)), .pad(.init(leading: -7, trailing: 9))] {
            #expect { try run(gone, source) } throws: { ($0 as? ImageError)?.code == 5002 }
        }
    }

    @Test("A circle crops a centered disc with an exact area")
    func circles() throws {
        let source = try PixelMaking.buffer(60, 40, isOpaque: true) { x, _ in [UInt8(x), 255, 255, 255] }
        let result = try run(.circle, source)
        #expect(result.size == PixelSize(width: 40, height: 40))
        #expect(!result.isOpaque)
        let bytes = result.packedBytes()
        let area = stride(from: 3, to: bytes.count, by: 4).reduce(0.0) { sum, index in sum + Double(bytes[index]) / 255
        }
        #expect(abs(area - Double.pi * 400) < 0.8)
        #expect(color(result, 20, 20) == color(source, 30, 20))
        #expect(color(result, 0, 0) == .clear)
        let ringed = try run(.circle(border: .init(width: 3, color: red)), source)
        #expect(color(ringed, 1, 20) == red && color(ringed, 20, 38) == red)
        #expect(color(ringed, 20, 20) == color(source, 30, 20))
        #expect(
            try CircleTransformer(border: .init(width: 3, color: red), unit: .points).transform(
                source, context: ImageProcessingContext(scale: 2)
            ).color(x: 5, y: 20) == red)
    }

    @Test("A border is drawn inside or outside")
    func borders() throws {
        let source = try white(10, 8)
        let inside = try run(.border(width: 2, color: red), source)
        #expect(inside.size == source.size && inside.isOpaque)
        let outside = try run(.border(width: 2, color: red, placement: .outside), source)
        #expect(outside.size == PixelSize(width: 14, height: 12) && outside.isOpaque)
        for (result, width, height) in [(inside, 10, 8), (outside, 14, 12)] {
            for y in 0..<height {
                for x in 0..<width {
                    let isBorder = x < 2 || y < 2 || x >= width - 2 || y >= height - 2
                    #expect(color(result, x, y) == (isBorder ? red : .white))
                }
            }
        }
        #expect(try !run(.border(width: 1, color: .clear, placement: .outside), source).isOpaque)
    }
}
