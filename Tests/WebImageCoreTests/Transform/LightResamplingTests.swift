// SPDX-License-Identifier: MIT

import CPixelKernels
import ResamplingReference
import Testing

@testable import WebImageCore

@Suite("Resampling in linear light")
struct LightResamplingTests {
    private let context = ImageProcessingContext(limits: .unlimited)

    private func resized(
        _ source: PixelBuffer, _ width: Int, _ height: Int, _ filter: ResamplingFilter = .lanczos3
    ) throws -> PixelBuffer {
        try Resampler.resample(
            source, window: SampleRect(source.size), to: PixelSize(width: width, height: height), filter: filter,
            context: context)
    }

    /// Returns an image with 16 bits per sample. The values are stored unchanged.
    private func deep(
        _ width: Int, _ height: Int, isOpaque: Bool, _ pixel: (Int, Int) -> [UInt16]
    ) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height), format: .rgba16)
        for y in 0..<height {
            let row = (canvas.baseAddress + y * canvas.bytesPerRow).samples16
            for x in 0..<width {
                for (channel, value) in pixel(x, y).enumerated() { row[x * 4 + channel] = value }
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }

    @Test("A fine pattern of black and white becomes the gray of half the light")
    func keepsBrightness() throws {
        let pattern = try PixelMaking.buffer(64, 64, isOpaque: true) { x, y in
            (x + y).isMultiple(of: 2) ? [255, 255, 255, 255] : [0, 0, 0, 255]
        }
        for filter in [ResamplingFilter.box, .lanczos3, .bilinear, .mitchell, .catmullRom] {
            let linear = try resized(pattern, 16, 16, filter).color(x: 8, y: 8)
            // 188 is the sRGB value of 0.5.
            #expect(abs(Int(linear?.red ?? 0) - 188) <= 1, "\(filter)")
            let encoded = try resized(pattern, 16, 16, ResamplingFilter(filter.kernel, light: .encoded))
            #expect(abs(Int(encoded.color(x: 8, y: 8)?.red ?? 0) - 128) <= 1, "\(filter)")
        }
    }

    @Test("8-bit images of any size agree with the definition", arguments: 1...20 as ClosedRange<UInt64>)
    func agreesForRandomSizes(_ seed: UInt64) throws {
        var numbers = SeededNumbers(seed)
        let width = Int.random(in: 1...150, using: &numbers)
        let height = Int.random(in: 1...150, using: &numbers)
        let source = try PixelMaking.noise(width, height, opaque: seed.isMultiple(of: 2), seed: seed)
        let output = PixelSize(
            width: Int.random(in: 1...max(1, width * 5 / 4), using: &numbers),
            height: Int.random(in: 1...max(1, height), using: &numbers))
        for kernel in ResamplingFilter.Kernel.allCases {
            let filter = ResamplingFilter(kernel)
            let result = SlowResampler.samples(try resized(source, output.width, output.height, filter))
            let expected = SlowResampler.resample(source, window: SampleRect(source.size), to: output, filter: filter)
            let worst = zip(result, expected).map { abs($0 - $1) }.max() ?? 0
            #expect(worst <= 1, "\(source.size) to \(output), \(kernel)")
        }
    }

    @Test("16-bit images agree with the definition and keep more than 8 bits", arguments: [true, false])
    func keepsDepth(_ isOpaque: Bool) throws {
        var numbers = SeededNumbers(5)
        let noise = try deep(91, 40, isOpaque: isOpaque) { _, _ in
            let alpha: UInt16 = isOpaque ? 65_535 : .random(in: 0...65_535, using: &numbers)
            return (0..<3).map { _ in .random(in: 0...alpha, using: &numbers) } + [alpha]
        }
        for filter in [ResamplingFilter.lanczos3, .box, .mitchell] {
            let result = try resized(noise, 30, 17, filter)
            #expect(result.format == .rgba16)
            let expected = SlowResampler.resample(
                noise, window: SampleRect(noise.size), to: result.size, filter: filter)
            let worst = zip(SlowResampler.samples(result), expected).map { abs($0 - $1) }.max() ?? 0
            #expect(worst <= 2, "\(filter)")
        }
        // 400 shades between two neighboring dark bytes remain distinct.
        let ramp = try deep(1_600, 2, isOpaque: isOpaque) { x, _ in
            Array(repeating: UInt16(2_570 + x / 4), count: 3) + [65_535]
        }
        let small = SlowResampler.samples(try resized(ramp, 400, 1, .box))
        let shades = stride(from: 0, to: small.count, by: 4).map { small[$0] }
        #expect(shades == (0..<400).map { 2_570 + $0 })
    }

    @Test(
        "Colors next to transparent pixels have neither dark nor bright edges", arguments: [PixelFormat.rgba8, .rgba16])
    func keepsEdges(_ format: PixelFormat) throws {
        let colors: [[UInt8]] = [[255, 255, 255], [200, 30, 20], [20, 20, 20], [0, 128, 255]]
        for color in colors {
            let disk = { (x: Int, y: Int) -> Bool in (x - 50) * (x - 50) + (y - 50) * (y - 50) < 1_600 }
            let source =
                switch format {
                case .rgba8:
                    try PixelMaking.buffer(101, 101, isOpaque: false) { x, y in
                        disk(x, y) ? color + [255] : [0, 0, 0, 0]
                    }
                case .rgba16:
                    try deep(101, 101, isOpaque: false) { x, y in
                        disk(x, y) ? (color + [255]).map { UInt16($0) * 257 } : [0, 0, 0, 0]
                    }
                }
            for filter in [ResamplingFilter.lanczos3, .box] {
                let samples = SlowResampler.samples(try resized(source, 27, 23, filter))
                let maximum = format == .rgba8 ? 255 : 65_535
                for place in stride(from: 0, to: samples.count, by: 4) {
                    for (channel, value) in color.enumerated() {
                        let expected = Double(samples[place + 3]) * Double(value) / 255
                        let step = Double(maximum) / 255
                        #expect(abs(Double(samples[place + channel]) - expected) <= max(1, step / 100))
                    }
                }
            }
        }
    }

    @Test("Enlarged images use the encoded values regardless of the light")
    func enlarges() throws {
        let source = try PixelMaking.noise(20, 15, opaque: false)
        for kernel in ResamplingFilter.Kernel.allCases {
            let linear = try resized(source, 41, 22, ResamplingFilter(kernel, light: .linear))
            let encoded = try resized(source, 41, 22, ResamplingFilter(kernel, light: .encoded))
            #expect(linear.packedBytes() == encoded.packedBytes())
        }
    }

    @Test("The nearest kernel only copies pixels of the source")
    func copiesPixels() throws {
        let source = try PixelMaking.buffer(8, 8, isOpaque: true) { x, y in [UInt8(x * 16), UInt8(y * 16), 7, 255] }
        let small = try resized(source, 4, 4, .nearest)
        let large = try resized(source, 16, 24, .nearest)
        for y in 0..<4 {
            for x in 0..<4 { #expect(small.color(x: x, y: y) == source.color(x: x * 2 + 1, y: y * 2 + 1)) }
        }
        for y in 0..<24 {
            for x in 0..<16 { #expect(large.color(x: x, y: y) == source.color(x: x / 2, y: y / 3)) }
        }
    }

    @Test("A large reduction of a bright image with a few dark pixels keeps its mean light")
    func reducesExtremely() throws {
        let source = try PixelMaking.buffer(3_000, 700, isOpaque: true) { x, y in
            (x * 7 + y * 13).isMultiple(of: 10) ? [0, 10, 20, 255] : [240, 10, 255, 255]
        }
        let result = try resized(source, 1, 1, .box).color(x: 0, y: 0)
        func mean(_ values: [Double]) -> Int {
            let light = values.map { SlowResampler.decoded($0 / 255) }
            return Int((SlowResampler.encoded(light[0] * 0.1 + light[1] * 0.9) * 255).rounded())
        }
        #expect(abs(Int(result?.red ?? 0) - mean([0, 240])) <= 1)
        #expect(result?.green == 10)
        #expect(abs(Int(result?.blue ?? 0) - mean([20, 255])) <= 1)
    }

    @Test("A rotation averages light across an edge")
    func rotates() throws {
        let source = try PixelMaking.buffer(60, 60, isOpaque: true) { x, _ in
            Array(repeating: x < 30 ? 0 : 255, count: 3) + [255]
        }
        func samples(_ light: ResamplingFilter.Light) throws -> [Int] {
            let turned = try RotateTransformer(degrees: 30, mode: .clip, light: light)
                .transform(source, context: context)
            let row = turned.colors(in: PixelRect(x: 10, y: 30, width: 40, height: 1))
            return row.map { Int($0.red) }
        }
        let encoded = try samples(.encoded)
        #expect(encoded.contains { (20...235).contains($0) })
        for (linear, encoded) in zip(try samples(.linear), encoded) {
            #expect(abs(Double(linear) - SlowResampler.encoded(Double(encoded) / 255) * 255) <= 4)
        }
    }

    @Test("The identifiers of transformers contain the filter")
    func identifies() {
        let pairs: [(StandardTransformer, StandardTransformer)] = [
            (.resize(width: 5), .resize(width: 5, filter: .lanczos3(light: .encoded))),
            (.resize(width: 5, filter: .mitchell), .resize(width: 5, filter: .catmullRom)),
            (.canvas(width: 5, height: 5), .canvas(width: 5, height: 5, filter: .lanczos3(light: .encoded))),
            (.smartCrop(width: 5, height: 5), .smartCrop(width: 5, height: 5, filter: .box)),
            (.rotate(degrees: 5), .rotate(degrees: 5, light: .encoded)),
        ]
        for (one, other) in pairs { #expect(one != other) }
        #expect(ResamplingFilter.nearest == ResamplingFilter(.nearest, light: .linear))
    }

    @Test("Every variant of the vertical pass has the same result")
    func variantsAgree() {
        var numbers = SeededNumbers(8)
        let samples = 192
        let variants = wi_add_light_pairs_variants()
        #expect(variants >= 1)
        for count in 1...8 {
            let pairs = (0..<samples * count).map { _ in
                UInt32.random(in: 0...UInt32.max, using: &numbers) & 0x7fff_7fff
            }
            let weights = (0..<count).map { _ -> UInt32 in
                let halves = (0..<2).map { _ in UInt32(UInt16(bitPattern: .random(in: -4_000...4_000, using: &numbers)))
                }
                return halves[0] | halves[1] << 16
            }
            let start = (0..<samples).map { _ in Float.random(in: -1e6...1e6, using: &numbers).rounded() }
            for isNew in [true, false] {
                var expected = start
                wi_add_light_pairs_variant(0, &expected, pairs, samples, weights, count, samples, isNew)
                for variant in 0..<variants {
                    var sums = start
                    wi_add_light_pairs_variant(variant, &sums, pairs, samples, weights, count, samples, isNew)
                    #expect(sums == expected, "variant \(variant)")
                }
            }
        }
    }

    @Test("The byte of each light is the nearest one")
    func bytes() throws {
        let bytes = try #require(LightTables.opaque.kernel.bytes)
        let values = try #require(LightTables.premultiplied.kernel.values)
        for light in 0...Int(WI_LIGHT_MAXIMUM) {
            let value = LightCurve.sRGB.encoded(Double(light) / Double(WI_LIGHT_MAXIMUM))
            guard bytes[light] == UInt8((value * 255).rounded()), abs(Double(values[light]) - value) < 1e-7 else {
                Issue.record("\(light): \(bytes[light]), \(values[light]) for \(value)")
                return
            }
        }
    }

    @Test("The light of every byte and every alpha agrees with the definition", arguments: [1, 15, 16, 17, 63, 64, 65])
    func lightOfPixels(_ width: Int) throws {
        var numbers = SeededNumbers(UInt64(width))
        func light(_ value: UInt8, _ alpha: UInt8) -> UInt32 {
            guard alpha > 0 else { return 0 }
            let straight = Double(value) / Double(alpha)
            return UInt32((SlowResampler.decoded(straight) * Double(alpha) / 255 * 32_767).rounded())
        }
        func coverage(_ alpha: UInt8) -> UInt32 { UInt32((Double(alpha) / 255 * 32_767).rounded()) }
        for round in 0..<60 {
            // Runs of opaque and of transparent pixels have fast paths.
            let rows = (0..<2).map { _ in
                (0..<width).flatMap { x -> [UInt8] in
                    let alpha: UInt8 =
                        switch (x / 16 + round) % 4 {
                        case 0: 255
                        case 1: 0
                        default: .random(in: 0...255, using: &numbers)
                        }
                    return (0..<3).map { _ in .random(in: 0...alpha, using: &numbers) } + [alpha]
                }
            }
            var pairs = [UInt32](repeating: 0, count: width * 4)
            withUnsafePointer(to: LightTables.premultiplied.kernel) {
                wi_light_pairs_rgba8(rows[0], rows[1], &pairs, $0, width)
            }
            let expected = (0..<width * 4).map { index -> UInt32 in
                let alphas = rows.map { $0[index / 4 * 4 + 3] }
                let values = index % 4 == 3 ? alphas : rows.map { $0[index] }
                let lights = zip(values, alphas).map { index % 4 == 3 ? coverage($1) : light($0, $1) }
                return lights[0] | lights[1] << 16
            }
            #expect(pairs == expected)
            var opaque = [UInt32](repeating: 0, count: width * 3)
            withUnsafePointer(to: LightTables.opaque.kernel) {
                wi_light_pairs_rgb8(rows[0], rows[1], &opaque, $0, width)
            }
            #expect(
                opaque
                    == (0..<width * 3).map { index in
                        let place = index / 3 * 4 + index % 3
                        return light(rows[0][place], 255) | light(rows[1][place], 255) << 16
                    })
        }
    }
}
