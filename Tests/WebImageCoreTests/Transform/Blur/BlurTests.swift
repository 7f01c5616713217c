// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Blur")
struct BlurTests {
    /// A new context for each use, because the clock of a context continues while other tests run.
    private var context: ImageProcessingContext { ImageProcessingContext() }

    private func blurred(_ pixels: PixelBuffer, _ radius: Double) throws -> PixelBuffer {
        try BlurTransformer(radius: radius).transform(pixels, context: context)
    }

    /// Returns the box for a deviation. The box has full weight up to `reach` and the weight `edge` at the next pixel.
    /// Both follow from its variance.
    private func slowBox(deviation: Double) -> (reach: Int, edge: Double) {
        let wanted = deviation * deviation / 3
        var (reach, squares) = (0, 0.0)
        func variance(_ edge: Double) -> Double {
            let end = Double((reach + 1) * (reach + 1))
            return (2 * squares + 2 * edge * end) / (Double(2 * reach + 1) + 2 * edge)
        }
        while variance(1) < wanted {
            reach += 1
            squares += Double(reach * reach)
        }
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if variance(middle) < wanted { low = middle } else { high = middle }
        }
        return (reach, low)
    }

    /// Applies three boxes in sequence as defined, with clamped edges and in double precision.
    private func slow(_ values: [Double], _ box: (reach: Int, edge: Double)) -> [Double] {
        var result = values
        for _ in 0..<3 {
            let before = result
            for place in result.indices {
                func at(_ index: Int) -> Double { before[min(max(index, 0), before.count - 1)] }
                var sum = (at(place - box.reach - 1) + at(place + box.reach + 1)) * box.edge
                for offset in -box.reach...box.reach { sum += at(place + offset) }
                result[place] = sum / (Double(2 * box.reach + 1) + 2 * box.edge)
            }
        }
        return result
    }

    @Test("A blur agrees with its definition for all radii", arguments: [0.3, 1, 2, 3.7, 8, 21, 64, 500])
    func agrees(_ radius: Double) throws {
        for (width, height) in [(37, 1), (1, 29), (19, 23), (8, 8), (41, 9)] {
            let source = try PixelMaking.noise(width, height, opaque: false, seed: 11)
            let bytes = source.packedBytes()
            let result = try blurred(source, radius).packedBytes()
            let box = slowBox(deviation: radius / 2)
            var worst = 0.0
            for channel in 0..<4 {
                var plane = (0..<width * height).map { Double(bytes[$0 * 4 + channel]) }
                for y in 0..<height {
                    let row = y * width..<(y + 1) * width
                    plane.replaceSubrange(row, with: slow(Array(plane[row]), box))
                }
                for x in 0..<width {
                    let column = slow((0..<height).map { plane[$0 * width + x] }, box)
                    for y in 0..<height {
                        worst = max(worst, abs(column[y] - Double(result[(y * width + x) * 4 + channel])))
                    }
                }
            }
            // Allow half a step for each of two roundings. In addition, color is clamped to alpha.
            #expect(worst <= 1.6, "\(width)x\(height)")
        }
    }

    @Test("A blur spreads a point like a Gaussian")
    func gaussian() throws {
        let deviation = 6.0
        let side = 101
        let canvas = try PixelCanvas(size: PixelSize(width: side, height: 1), format: .rgba16)
        canvas.withUnsafeMutableBytes { bytes in
            for channel in 0..<4 {
                bytes.storeBytes(of: UInt16.max, toByteOffset: side / 2 * 8 + channel * 2, as: UInt16.self)
            }
        }
        let result = try blurred(canvas.finish(isOpaque: false), deviation * 2)
        let values = result.withUnsafeBytes { bytes in
            (0..<side).map { Double(bytes.load(fromByteOffset: $0 * 8, as: UInt16.self)) / 65_535 }
        }
        #expect(abs(values.reduce(0, +) - 1) < 0.001)
        var variance = 0.0
        for (index, value) in values.enumerated() {
            let distance = Double(index - side / 2)
            variance += distance * distance * value
        }
        #expect(abs(variance - deviation * deviation) < 0.3)
        for (index, value) in values.enumerated() {
            let x = Double(index - side / 2)
            let exact = exp(-x * x / (2 * deviation * deviation)) / (deviation * (2 * .pi).squareRoot())
            // The peak of three boxes is 6% lower than the peak of a Gaussian, which is 0.0665 here.
            #expect(abs(value - exact) < 0.0045)
        }
    }

    @Test("A blur leaves flat images unchanged in both depths", arguments: [0.1, 1, 7, 100, 1e9])
    func keepsFlat(_ radius: Double) throws {
        for (width, height) in [(1, 1), (1, 40), (33, 7), (300, 3)] {
            for pixel: [UInt8] in [[255, 255, 255, 255], [10, 200, 30, 255], [9, 8, 7, 10], [0, 0, 0, 0]] {
                let source = try PixelMaking.buffer(width, height, isOpaque: pixel[3] == 255) { _, _ in pixel }
                let result = try blurred(source, radius)
                #expect(result.packedBytes() == source.packedBytes())
                #expect(result.isOpaque == source.isOpaque)
                let deep = try PixelMaking.deep(source)
                #expect(try blurred(deep, radius).packedBytes() == deep.packedBytes())
            }
        }
    }

    @Test("The blur styles match YYWebImage")
    func looks() throws {
        let source = try PixelMaking.buffer(9, 9, isOpaque: true) { _, _ in [200, 100, 50, 255] }
        func pixel(_ style: BlurTransformer.Style) throws -> [UInt8] {
            Array(try BlurTransformer(style).transform(source, context: context).packedBytes().prefix(4))
        }
        // Saturation 1.8 results in 255, 86, 0. Then the white of each style is blended by its alpha.
        #expect(try pixel(.soft) == [240, 132, 77, 255])
        #expect(try pixel(.light) == [255, 137, 77, 255])
        #expect(try pixel(.extraLight) == [248, 218, 202, 255])
        // A tint is rounded when it's premultiplied: to 20 instead of 20.4, which results in 43 instead of 43.7.
        #expect(try pixel(.dark) == [89, 43, 20, 255])
        // Saturation -1 results in 35, 135, 185.
        let blue = PixelColor(red: 0, green: 0, blue: 250, alpha: 9)
        #expect(try pixel(.tinted(blue)) == [14, 54, 224, 255])
        #expect(BlurTransformer(.soft).radius == 60 && BlurTransformer(.light).radius == 60)
        #expect(BlurTransformer(.extraLight).radius == 40 && BlurTransformer(.dark).radius == 40)
        #expect(BlurTransformer(.tinted(blue)).radius == 20 && BlurTransformer(.soft).unit == .points)
    }

    @Test("The tint is blended with its mode after the blur", arguments: ImageBlendMode.allCases)
    func tintModes(_ mode: ImageBlendMode) throws {
        let source = try PixelMaking.noise(15, 11, opaque: false, seed: 4)
        let color = PixelColor(red: 200, green: 90, blue: 30, alpha: 120)
        let expected = try TintTransformer(color, mode: mode).transform(try blurred(source, 4), context: context)
        let result = try StandardTransformer.blur(radius: 4, tint: color, tintBlendMode: mode)
            .transform(source, context: context)
        #expect(result.packedBytes() == expected.packedBytes())
        let normal = try StandardTransformer.blur(radius: 4, tint: color).transform(source, context: context)
        let isNormal = mode == .normal || mode == .sourceAtop
        #expect((normal.packedBytes() == result.packedBytes()) == isNormal)
    }

    @Test("A blur is visible only in the mask")
    func mask() throws {
        let source = try PixelMaking.noise(20, 6, opaque: true, seed: 4)
        let half = try PixelMaking.buffer(20, 6, isOpaque: false) { x, _ in x < 10 ? [0, 0, 0, 0] : [0, 0, 0, 255] }
        let whole = try blurred(source, 5)
        let result = try BlurTransformer(radius: 5, mask: PixelMask(half)).transform(source, context: context)
        #expect(result.isOpaque)
        for y in 0..<6 {
            for x in 0..<20 {
                let expected = (x < 10 ? source : whole).color(x: x, y: y)
                #expect(result.color(x: x, y: y) == expected)
            }
        }
    }

    @Test("Sharpening amplifies the difference from the blur and leaves flat areas unchanged")
    func sharpen() throws {
        let source = try PixelMaking.buffer(24, 3, isOpaque: true) { x, _ in
            x < 12 ? [100, 100, 100, 255] : [160, 160, 160, 255]
        }
        let soft = try blurred(source, 3)
        let sharp = try SharpenTransformer(amount: 1.5, radius: 3).transform(source, context: context)
        #expect(sharp.isOpaque)
        for x in 0..<24 {
            let value = Double(x < 12 ? 100 : 160)
            let blur = Double(soft.color(x: x, y: 1)?.red ?? 0)
            #expect(sharp.color(x: x, y: 1)?.red == UInt8((value + 1.5 * (value - blur)).rounded()))
        }
        let kept = try SharpenTransformer(amount: 1.5, radius: 3, threshold: 0.5).transform(source, context: context)
        #expect(kept.packedBytes() == source.packedBytes())
        // Transparent pixels next to a color don't make it lighter.
        let edge = try PixelMaking.buffer(24, 3, isOpaque: false) { x, _ in
            x < 12 ? [0, 0, 0, 0] : [40, 50, 60, 255]
        }
        let beside = try SharpenTransformer(amount: 3).transform(edge, context: context).packedBytes()
        // The tolerance is the rounding error of the blur, multiplied by the amount.
        #expect(zip(beside, edge.packedBytes()).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
    }
}
