// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Trim")
struct TrimTests {
    private let context = ImageProcessingContext()

    /// Returns an image of `border` with noise in a rectangle whose colors differ from the border.
    private func framed(_ rect: PixelRect, border: [UInt8], in size: PixelSize) throws -> PixelBuffer {
        var numbers = SeededNumbers(5)
        return try PixelMaking.buffer(size.width, size.height, isOpaque: border[3] == 255) { x, y in
            let isInside =
                (rect.x..<rect.x + rect.width).contains(x) && (rect.y..<rect.y + rect.height).contains(y)
            return isInside ? [.random(in: 100...200, using: &numbers), 120, 90, 255] : border
        }
    }

    @Test(
        "The uniform border is cropped at all edges and in both depths",
        arguments: [
            PixelRect(x: 3, y: 2, width: 5, height: 4), PixelRect(x: 4, y: 0, width: 1, height: 1),
            PixelRect(x: 1, y: 8, width: 10, height: 1), PixelRect(x: 10, y: 1, width: 1, height: 8),
        ])
    func borders(_ rect: PixelRect) throws {
        let size = PixelSize(width: 11, height: 9)
        for border: [UInt8] in [[255, 255, 255, 255], [0, 0, 0, 255], [0, 0, 0, 0]] {
            let source = try framed(rect, border: border, in: size)
            let expected = try StandardTransformer.crop(rect).transform(source, context: context)
            let result = try StandardTransformer.trim().transform(source, context: context)
            #expect(result.size == rect.size && result.packedBytes() == expected.packedBytes())
            let deep = try StandardTransformer.trim().transform(try PixelMaking.deep(source), context: context)
            #expect(deep.size == rect.size)
        }
    }

    @Test("The tolerance decides whether similar colors belong to the border")
    func tolerance() throws {
        let source = try PixelMaking.buffer(5, 5, isOpaque: true) { x, y in
            x == 2 && y == 2 ? [0, 0, 0, 255] : x == 0 ? [100, 100, 100, 255] : [110, 100, 95, 255]
        }
        func width(_ tolerance: Double) throws -> Int {
            try StandardTransformer.trim(tolerance: tolerance).transform(source, context: context).width
        }
        #expect(try width(10.0 / 255) == 1)
        #expect(try width(9.0 / 255) == 4)
        // Every color is within the tolerance, so the image remains unchanged.
        #expect(try StandardTransformer.trim(tolerance: 1).transform(source, context: context) === source)
    }

    @Test("Images of one color and images without a border of the color remain unchanged")
    func unchanged() throws {
        let flat = try PixelBuffer.filled(with: .white, size: PixelSize(width: 6, height: 4))
        #expect(try StandardTransformer.trim().transform(flat, context: context) === flat)
        #expect(try StandardTransformer.trim(color: .black).transform(flat, context: context) === flat)
        #expect(try StandardTransformer.trim(color: .white).transform(flat, context: context) === flat)
        let rect = PixelRect(x: 1, y: 1, width: 2, height: 2)
        let source = try framed(rect, border: [255, 255, 255, 255], in: flat.size)
        #expect(try StandardTransformer.trim(color: .white).transform(source, context: context).size == rect.size)
    }

    @Test("A tolerance outside the range throws", arguments: [-0.1, 1.1, .nan, .infinity])
    func invalid(_ tolerance: Double) throws {
        let source = try PixelMaking.noise(3, 3, opaque: true)
        #expect {
            try StandardTransformer.trim(tolerance: tolerance).transform(source, context: context)
        } throws: { ($0 as? ImageError)?.code == 5001 }
    }
}
