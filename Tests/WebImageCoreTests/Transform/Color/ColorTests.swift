// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Colors")
struct ColorTests {
    private let context = ImageProcessingContext()

    private func changed(_ pixel: [UInt8], _ transformer: StandardTransformer) throws -> [UInt8] {
        let source = try PixelMaking.buffer(3, 2, isOpaque: pixel[3] == 255) { _, _ in pixel }
        return Array(try transformer.transform(source, context: context).packedBytes().suffix(4))
    }

    @Test("Colors change as the Filter Effects specification defines")
    func named() throws {
        #expect(try changed([200, 100, 51, 255], .invert) == [55, 155, 204, 255])
        #expect(try changed([200, 100, 51, 255], .invert(0.5)) == [128, 128, 128, 255])
        #expect(try changed([255, 0, 0, 255], .grayscale) == [54, 54, 54, 255])
        #expect(try changed([0, 255, 0, 255], .grayscale) == [182, 182, 182, 255])
        #expect(try changed([0, 0, 255, 255], .saturation(0)) == [18, 18, 18, 255])
        #expect(try changed([255, 255, 255, 255], .sepia) == [255, 255, 239, 255])
        #expect(try changed([100, 100, 100, 255], .sepia) == [135, 120, 94, 255])
        #expect(try changed([100, 50, 25, 255], .brightness(2)) == [200, 100, 50, 255])
        #expect(try changed([100, 50, 25, 255], .brightness(0)) == [0, 0, 0, 255])
        #expect(try changed([100, 200, 30, 255], .contrast(1.5)) == [86, 236, 0, 255])
        #expect(try changed([100, 200, 30, 255], .contrast(0)) == [128, 128, 128, 255])
        // At 180 degrees, the matrix is 2 × luminance − identity.
        #expect(try changed([100, 120, 90, 255], .hueRotation(degrees: 180)) == [127, 107, 137, 255])
        #expect(try changed([100, 120, 90, 255], .hueRotation(degrees: 540)) == [127, 107, 137, 255])
    }

    @Test("Color matrices apply to unpremultiplied values, regardless of the alpha")
    func alpha() throws {
        // 60 of 120 is half of the range, and its inverse is half of the range again.
        #expect(try changed([60, 120, 0, 120], .invert) == [60, 0, 120, 120])
        #expect(try changed([0, 0, 0, 0], .invert) == [0, 0, 0, 0])
        let fade = ColorMatrix(alpha: .init(alpha: 0.5))
        #expect(try changed([60, 120, 0, 120], .colorMatrix(fade)) == [30, 60, 0, 60])
        let veil = ColorMatrix(alpha: .init(constant: 1))
        #expect(try changed([60, 120, 0, 120], .colorMatrix(veil)) == [128, 255, 0, 255])
        let key = ColorMatrix(alpha: .init(red: 1))
        #expect(try changed([51, 255, 0, 255], .colorMatrix(key)) == [10, 51, 0, 51])
        let swap = ColorMatrix(red: .init(blue: 1), blue: .init(red: 1))
        #expect(try changed([1, 2, 3, 4], .colorMatrix(swap)) == [3, 2, 1, 4])
    }

    @Test("An identity matrix leaves all values unchanged in both depths")
    func identity() throws {
        let source = try PixelMaking.buffer(256, 256, isOpaque: false) { x, y in
            [UInt8(min(x, y)), UInt8(x * y / 255), 0, UInt8(y)]
        }
        // The matrix isn't exactly the identity, so the transformer doesn't take its shortcut.
        let almost = StandardTransformer.colorMatrix(ColorMatrix(red: .init(red: 1, constant: 1e-12)))
        #expect(try almost.transform(source, context: context).packedBytes() == source.packedBytes())
        let deep = try PixelMaking.deep(source)
        #expect(try almost.transform(deep, context: context).packedBytes() == deep.packedBytes())
        #expect(try StandardTransformer.brightness(1).transform(source, context: context) === source)
    }

    @Test("Applying two matrices equals applying their product")
    func product() throws {
        let source = try PixelMaking.noise(30, 20, opaque: false, seed: 8)
        let first = ColorMatrix.saturation(0.4)
        let second = ColorMatrix.hueRotation(degrees: 20).followed(by: .brightness(0.8))
        let both = try StandardTransformer.colorMatrix(first.followed(by: second))
            .transform(source, context: context)
        let apart = try ComposedTransformer([.colorMatrix(first), .colorMatrix(second)])
            .transform(source, context: context)
        let worst = zip(both.packedBytes(), apart.packedBytes()).map { abs(Int($0) - Int($1)) }.max()
        #expect((worst ?? 9) <= 2)
    }

    @Test("A vignette fades only toward the corners")
    func vignette() throws {
        let source = try PixelMaking.buffer(101, 101, isOpaque: true) { _, _ in [200, 200, 200, 255] }
        let result = try VignetteTransformer(strength: 0.5, start: 0.5).transform(source, context: context)
        #expect(result.isOpaque)
        func red(_ x: Int, _ y: Int) -> Int { Int(result.color(x: x, y: y)?.red ?? 0) }
        #expect(red(50, 50) == 200 && red(50, 20) == 200 && red(70, 70) == 200)
        // The center of the corner pixel is at 50 / 50.5 of the distance.
        let t = (50 / 50.5 - 0.5) * 2
        #expect(abs(Double(red(0, 0)) - 200 * (1 - 0.5 * t * t * (3 - 2 * t))) <= 0.6)
        #expect(red(0, 0) == red(100, 100) && red(3, 90) == red(97, 10))
        #expect((51..<100).allSatisfy { red($0, $0) >= red($0 + 1, $0 + 1) })
        let clear = try PixelMaking.buffer(9, 9, isOpaque: false) { _, _ in [0, 0, 0, 0] }
        let still = try VignetteTransformer(strength: 1, start: 0, color: .white).transform(clear, context: context)
        #expect(still.packedBytes().allSatisfy { $0 == 0 })
    }
}
