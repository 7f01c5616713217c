// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Rotation")
struct RotateTests {
    private let context = ImageProcessingContext()

    private func turned(
        _ pixels: PixelBuffer, _ degrees: Double, _ mode: RotateTransformer.Mode = .fit,
        on background: PixelColor = .clear
    ) throws -> PixelBuffer {
        try RotateTransformer(degrees: degrees, mode: mode, background: background).transform(pixels, context: context)
    }

    private func color(_ pixels: PixelBuffer, _ x: Int, _ y: Int) -> PixelColor? {
        pixels.color(x: x, y: y)
    }

    @Test("A rotation by a multiple of 90° moves pixels clockwise and changes none of them")
    func quarters() throws {
        let source = try PixelMaking.noise(7, 4, opaque: false, seed: 6)
        for whole in [0, 360, -720] { #expect(try turned(source, Double(whole)) === source) }
        for (degrees, place) in [
            (90, { (x: Int, y: Int) in (y, 3 - x) }), (180, { (6 - $0, 3 - $1) }), (270, { (6 - $1, $0) }),
            (-90, { (6 - $1, $0) }), (450, { ($1, 3 - $0) }),
        ] as [(Double, (Int, Int) -> (Int, Int))] {
            let result = try turned(source, degrees)
            for y in 0..<result.height {
                for x in 0..<result.width {
                    let (column, row) = place(x, y)
                    #expect(color(result, x, y) == color(source, column, row), "\(degrees)")
                }
            }
        }
        let clipped = try turned(source, 90, .clip, on: .white)
        #expect(clipped.size == source.size)
        #expect(color(clipped, 0, 0) == .white && color(clipped, 6, 3) == .white)
        let whole = try turned(source, 90)
        #expect(color(clipped, 2, 0) == color(whole, 0, 1) || color(clipped, 2, 0) == color(whole, 1, 1))
    }

    @Test("A rotation by another angle has the size and the area of the rotated image")
    func sizes() throws {
        let white = try PixelMaking.buffer(60, 40, isOpaque: true) { _, _ in [255, 255, 255, 255] }
        for degrees in [1, 15, 30, 45, 89.5, 100, 200, -33] {
            let result = try turned(white, degrees)
            #expect(!result.isOpaque)
            let alphas = stride(from: 3, to: result.packedBytes().count, by: 4).map { result.packedBytes()[$0] }
            let area = alphas.reduce(0) { $0 + Double($1) } / 255
            #expect(abs(area - 2_400) < 12, "\(degrees): \(area)")
            #expect(try turned(white, degrees, .clip).size == white.size)
            let solid = try turned(white, degrees, on: .black)
            #expect(solid.isOpaque)
            #expect(stride(from: 3, to: solid.packedBytes().count, by: 4).allSatisfy { solid.packedBytes()[$0] == 255 })
        }
        let square = try PixelMaking.buffer(300, 300, isOpaque: true) { _, _ in [1, 2, 3, 255] }
        #expect(try turned(square, 45).size == PixelSize(width: 425, height: 425))
        #expect(try turned(white, 30).size == PixelSize(width: 72, height: 65))
    }

    @Test("Flat colors are preserved up to the edges, and only alpha decreases there")
    func edges() throws {
        let source = try PixelMaking.buffer(31, 17, isOpaque: true) { _, _ in [200, 100, 0, 255] }
        for degrees in [3, 27, 45, 133.3] {
            let bytes = try turned(source, degrees).packedBytes()
            for place in stride(from: 0, to: bytes.count, by: 4) {
                let alpha = Double(bytes[place + 3])
                #expect(abs(Double(bytes[place]) - alpha * 200 / 255) <= 1)
                #expect(abs(Double(bytes[place + 1]) - alpha * 100 / 255) <= 1)
                #expect(bytes[place + 2] == 0)
            }
        }
    }

    @Test("Images rotate clockwise around the center")
    func direction() throws {
        // The top-left quarter of the image is red.
        let source = try PixelMaking.buffer(41, 41, isOpaque: true) { x, y in
            x < 20 && y < 20 ? [255, 0, 0, 255] : [0, 0, 0, 255]
        }
        let result = try turned(source, 45, .clip)
        #expect(color(result, 20, 8)?.red == 255)
        #expect(color(result, 8, 20)?.red == 0 && color(result, 32, 20)?.red == 0 && color(result, 20, 32)?.red == 0)
        // A third-order interpolation rotates a ramp exactly.
        let ramp = try PixelMaking.buffer(101, 101, isOpaque: true) { x, y in [UInt8(x * 2), UInt8(y * 2), 0, 255] }
        let turn = try turned(ramp, 30, .clip)
        for (x, y) in [(50, 50), (60, 40), (35, 70), (50, 20)] {
            let (u, v) = (Double(x - 50), Double(y - 50))
            let (cosine, sine) = (0.75.squareRoot(), 0.5)
            let expected = (50 + u * cosine + v * sine, 50 - u * sine + v * cosine)
            let pixel = color(turn, x, y)
            #expect(abs(Double(pixel?.red ?? 0) - expected.0 * 2) <= 0.51)
            #expect(abs(Double(pixel?.green ?? 0) - expected.1 * 2) <= 0.51)
        }
    }
}
