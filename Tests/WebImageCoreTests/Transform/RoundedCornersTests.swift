// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Rounded corners")
struct RoundedCornersTests {
    private let context = ImageProcessingContext()

    private func white(_ width: Int, _ height: Int) throws -> PixelBuffer {
        try PixelMaking.buffer(width, height, isOpaque: true) { _, _ in [255, 255, 255, 255] }
    }

    private func alphas(_ pixels: PixelBuffer) -> [[UInt8]] {
        (0..<pixels.height).map { y in (0..<pixels.width).map { pixels.pixel(x: $0, y: y)?.alpha ?? 0 } }
    }

    @Test(
        "Rounded corners are symmetric, transparent at the tip, and more opaque toward the center",
        arguments: [0.5, 3, 7.3, 12, 20, 1e6])
    func symmetric(_ radius: Double) throws {
        let result = try StandardTransformer.roundedCorners(radius: radius).transform(
            try white(41, 41), context: context)
        let rows = alphas(result)
        #expect(!result.isOpaque)
        #expect(rows == rows.reversed())
        #expect(rows == rows.map { $0.reversed() })
        #expect(rows == rows.indices.map { x in rows.map { $0[x] } })
        for row in rows.prefix(21) {
            #expect(zip(row.prefix(20), row.dropFirst()).allSatisfy { $0 <= $1 })
        }
        if radius >= 7 { #expect(rows[0][0] == 0 && rows[40][40] == 0) }
        #expect(rows[20][20] == 255)
    }

    @Test("Rounded corners have the exact coverage of a circle")
    func exactCoverage() throws {
        let rows = alphas(
            try StandardTransformer.roundedCorners(radius: 16).transform(try white(32, 32), context: context))
        let total = rows.joined().reduce(0) { $0 + Double($1) } / 255
        #expect(abs(total - Double.pi * 256) < 0.6)
        for (x, y) in [(0, 12), (3, 5), (4, 4), (1, 9), (7, 2)] {
            var inside = 0
            for i in 0..<400 {
                let dx = 16 - (Double(x) + (Double(i % 20) + 0.5) / 20)
                let dy = 16 - (Double(y) + (Double(i / 20) + 0.5) / 20)
                if dx * dx + dy * dy <= 256 { inside += 1 }
            }
            #expect(abs(Double(rows[y][x]) - Double(inside) / 400 * 255) <= 4)
        }
    }

    @Test("The inner pixels and the unselected corners are unchanged")
    func untouched() throws {
        let source = try PixelMaking.noise(40, 30, opaque: false, seed: 5)
        let result = try StandardTransformer.roundedCorners(radius: 10, corners: [.topTrailing, .bottomLeading])
            .transform(source, context: context)
        for y in 0..<30 {
            for x in 0..<40 {
                guard let before = source.pixel(x: x, y: y), let after = result.pixel(x: x, y: y) else { continue }
                let cut = (x >= 30 && y < 10) || (x < 10 && y >= 20)
                if !cut { #expect(before == after) }
                #expect(max(after.red, after.green, after.blue) <= after.alpha)
            }
        }
    }

    @Test("A border follows the arc")
    func border() throws {
        let red = PixelColor(red: 255, green: 0, blue: 0)
        let result = try StandardTransformer.roundedCorners(radius: 12, border: .init(width: 2.5, color: red))
            .transform(try white(40, 36), context: context)
        func isRed(_ x: Int, _ y: Int) -> Bool { result.pixel(x: x, y: y).map { $0 == (255, 0, 0, 255) } ?? false }
        func isWhite(_ x: Int, _ y: Int) -> Bool {
            result.pixel(x: x, y: y).map { $0 == (255, 255, 255, 255) } ?? false
        }
        #expect(isRed(20, 0) && isRed(20, 1) && isRed(0, 18) && isRed(39, 18) && isRed(20, 35))
        #expect(isWhite(20, 3) && isWhite(3, 18) && isWhite(20, 18))
        // Half of the third line is border. The alpha is unchanged, and the color is between the two.
        #expect(result.pixel(x: 20, y: 2).map { $0 == (255, 128, 128, 255) } ?? false)
        #expect(result.pixel(x: 0, y: 0)?.alpha == 0)
        #expect(isRed(4, 4))
        let uncut = try StandardTransformer.roundedCorners(
            radius: 12, corners: [], border: .init(width: 1, color: PixelColor(red: 0, green: 0, blue: 0, alpha: 128))
        ).transform(try white(9, 9), context: context)
        #expect(uncut.isOpaque)
        #expect(uncut.pixel(x: 0, y: 0).map { $0 == (127, 127, 127, 255) } ?? false)
    }

    @Test("Corners of 16-bit images and of every small size are rounded")
    func sizes() throws {
        for width in 1...9 {
            for height in 1...9 {
                let result =
                    try StandardTransformer
                    .roundedCorners(radius: 2.25, border: .init(width: 0.7, color: .black))
                    .transform(try white(width, height), context: context)
                #expect(result.size == PixelSize(width: width, height: height))
            }
        }
        let canvas = try PixelCanvas(size: PixelSize(width: 10, height: 10), format: .rgba16)
        canvas.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = 255 }
        }
        let deep = try StandardTransformer.roundedCorners(radius: 5)
            .transform(canvas.finish(isOpaque: true), context: context)
        deep.withUnsafeBytes { bytes in
            #expect(bytes.load(as: UInt64.self) == 0)
            #expect(bytes.load(fromByteOffset: 5 * deep.bytesPerRow + 40, as: UInt64.self) == .max)
        }
    }

    @Test("A fraction refers to the shorter side", arguments: [0.125, 0.25, 0.5, 0.9, 1])
    func fractions(_ fraction: Double) throws {
        for (width, height) in [(32, 48), (48, 32), (20, 20)] {
            let source = try white(width, height)
            let result = try StandardTransformer.roundedCorners(radiusFraction: fraction)
                .transform(source, context: context)
            let radius = fraction * Double(min(width, height))
            let expected = try StandardTransformer.roundedCorners(radius: radius).transform(source, context: context)
            #expect(result.packedBytes() == expected.packedBytes())
        }
        let points = try StandardTransformer.roundedCorners(radiusFraction: fraction, unit: .points)
            .transform(try white(32, 32), context: ImageProcessingContext(scale: 3))
        let pixels = try StandardTransformer.roundedCorners(radiusFraction: fraction)
            .transform(try white(32, 32), context: context)
        #expect(points.packedBytes() == pixels.packedBytes())
    }

    @Test("A fraction outside the range throws", arguments: [0, -0.5, 1.01, 25, .nan, .infinity])
    func invalidFractions(_ fraction: Double) throws {
        let source = try white(8, 8)
        #expect {
            try StandardTransformer.roundedCorners(radiusFraction: fraction).transform(source, context: context)
        } throws: { ($0 as? ImageError)?.code == 5001 }
    }

    @Test("An invalid radius or border width throws", arguments: [0, -1, .nan, .infinity])
    func refuse(_ value: Double) throws {
        let source = try white(8, 8)
        let bad: [StandardTransformer] = [
            .roundedCorners(radius: value),
            .roundedCorners(radius: 2, border: .init(width: value, color: .black)),
        ]
        for transformer in bad {
            #expect { try transformer.transform(source, context: context) } throws: {
                ($0 as? ImageError)?.code == 5001
            }
        }
    }
}
