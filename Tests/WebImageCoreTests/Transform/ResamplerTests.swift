// SPDX-License-Identifier: MIT

import Foundation
import ResamplingReference
import Testing
import WebImageCore
import WebImageTestBasics

@Suite("Resampler")
struct ResamplerTests {
    private let context = ImageProcessingContext(limits: .unlimited)

    /// All kernels in both lights.
    private let filters = ResamplingFilter.Kernel.allCases.flatMap { kernel in
        Set(ResamplingFilter.Light.allCases.map { ResamplingFilter(kernel, light: $0) })
    }

    private func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    private func checkAgainstReference(
        _ source: PixelBuffer, window: SampleRect? = nil, to output: PixelSize, filter: ResamplingFilter
    ) throws {
        let window = window ?? SampleRect(source.size)
        let result = try Resampler.resample(source, window: window, to: output, filter: filter, context: context)
        let expected = SlowResampler.resample(source, window: window, to: output, filter: filter)
        let samples = SlowResampler.samples(result)
        #expect(result.size == output)
        #expect(samples.count == expected.count)
        let differences = zip(samples, expected).map { abs($0 - $1) }
        #expect(differences.max() ?? 0 <= 1, "\(source.size) to \(output), \(filter)")
        // At most one sample in twenty is rounded to the other neighbor.
        #expect(differences.reduce(0, +) <= 2 + differences.count / 20, "\(source.size) to \(output), \(filter)")
    }

    @Test(
        "Reductions, enlargements, and combinations of both agree with the definition",
        arguments: [
            (97, 61, 33, 20), (64, 64, 16, 16), (40, 30, 90, 71), (50, 20, 20, 50), (120, 90, 119, 89),
        ])
    func agreesWithDefinition(case sides: (Int, Int, Int, Int)) throws {
        let source = try PixelMaking.noise(sides.0, sides.1, opaque: false)
        for filter in filters {
            try checkAgainstReference(source, to: size(sides.2, sides.3), filter: filter)
        }
    }

    @Test("Windows with fractional edges agree with the definition")
    func agreesForFractionalWindows() throws {
        let source = try PixelMaking.noise(81, 63, opaque: false, seed: 7)
        let windows = [
            SampleRect(x: 0, y: 0, width: 80.25, height: 62.5), SampleRect(x: 10.3, y: 7.75, width: 41.1, height: 20.9),
            SampleRect(x: 80.5, y: 62.5, width: 0.5, height: 0.5), SampleRect(x: 3.2, y: 4.4, width: 0.1, height: 0.2),
        ]
        for window in windows {
            for filter in filters {
                try checkAgainstReference(source, window: window, to: size(17, 13), filter: filter)
            }
        }
    }

    @Test("All sides from 1 to 17 pixels agree with the definition")
    func agreesForSmallSides() throws {
        for side in 1...17 {
            let source = try PixelMaking.noise(side, 18 - side, opaque: side.isMultiple(of: 2), seed: UInt64(side))
            try checkAgainstReference(source, to: size(18 - side, (side + 1) / 2), filter: .lanczos3)
            try checkAgainstReference(source, to: size((side + 1) / 2, 19), filter: .box)
        }
    }

    @Test("Reductions from 1,000 pixels to 3 pixels and to 1 pixel agree with the definition")
    func survivesHugeReductions() throws {
        let source = try PixelMaking.waves(1_000, 40)
        for filter in filters {
            try checkAgainstReference(source, to: size(3, 2), filter: filter)
            try checkAgainstReference(source, to: size(1, 1), filter: filter)
        }
    }

    @Test("Constant images stay constant in both depths")
    func keepsConstants() throws {
        for (from, to) in [(1, 9), (37, 5), (500, 3), (2_000, 1), (16, 16), (7, 700)] {
            let source = try PixelMaking.buffer(from, from / 7 + 1, isOpaque: false) { _, _ in [13, 200, 77, 201] }
            for filter in filters {
                let result = try Resampler.resample(
                    source, window: SampleRect(x: 0.0625, y: 0.125, width: Double(from) - 0.25, height: 0.75),
                    to: size(to, 3), filter: filter, context: context)
                #expect(result.packedBytes() == Array(repeating: [13, 200, 77, 201], count: to * 3).flatMap(\.self))
            }
        }
        let canvas = try PixelCanvas(size: size(900, 3), format: .rgba16)
        canvas.withUnsafeMutableBytes { bytes in
            for index in 0..<bytes.count / 2 {
                bytes.storeBytes(of: UInt16(60_001), toByteOffset: index * 2, as: UInt16.self)
            }
        }
        let deep = try Resampler.resample(
            canvas.finish(isOpaque: false), window: SampleRect(size(900, 3)), to: size(2, 2), context: context)
        #expect(deep.format == .rgba16)
        deep.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: 16, by: 2) {
                #expect(bytes.load(fromByteOffset: offset, as: UInt16.self) == 60_001)
            }
        }
    }

    @Test("Opaque images stay opaque, and color never exceeds alpha")
    func keepsInvariants() throws {
        let opaque = try PixelMaking.noise(70, 50, opaque: true, seed: 3)
        let small = try Resampler.resample(
            opaque, window: SampleRect(opaque.size), to: size(31, 23), context: context)
        #expect(small.isOpaque)
        #expect(stride(from: 3, to: small.packedBytes().count, by: 4).allSatisfy { small.packedBytes()[$0] == 255 })
        // At hard edges between opaque white and transparent pixels, ringing would violate the invariant.
        let hard = try PixelMaking.buffer(60, 60, isOpaque: false) { x, y in
            (x / 7 + y / 5).isMultiple(of: 2) ? [255, 255, 255, 255] : [0, 0, 0, 0]
        }
        for target in [size(13, 17), size(131, 127)] {
            let result = try Resampler.resample(
                hard, window: SampleRect(hard.size), to: target, context: context
            ).packedBytes()
            for pixel in stride(from: 0, to: result.count, by: 4) {
                #expect(result[pixel..<pixel + 3].allSatisfy { $0 <= result[pixel + 3] })
            }
        }
    }

    @Test("A reduction agrees with the result of ImageMagick")
    func agreesWithImageMagick() throws {
        let source = try PixelMaking.waves(240, 180)
        // ImageMagick averages the stored values.
        let result = try Resampler.resample(
            source, window: SampleRect(source.size), to: size(50, 36), filter: .lanczos3(light: .encoded),
            context: context)
        let raw = try Data(contentsOf: Fixtures.directory.appending(path: "Resample/waves-240x180-to-50x36.rgb"))
        let bytes = result.packedBytes()
        let colors = bytes.indices.filter { $0 % 4 != 3 }.map { bytes[$0] }
        #expect(colors.count == raw.count)
        #expect(PixelMaking.psnr(colors, [UInt8](raw)) >= 40)
    }

    @Test("If nothing changes, the resampler returns the same buffer")
    func returnsIdentity() throws {
        let source = try PixelMaking.noise(9, 9, opaque: false)
        let result = try Resampler.resample(source, window: SampleRect(source.size), to: source.size, context: context)
        #expect(result === source)
    }

    @Test("Windows outside the source, empty outputs, and results beyond the limits throw")
    func refusesBadInput() throws {
        let source = try PixelMaking.noise(9, 9, opaque: false)
        let windows = [
            SampleRect(x: 0, y: 0, width: 10, height: 9), SampleRect(x: -1, y: 0, width: 5, height: 5),
            SampleRect(x: .nan, y: 0, width: 5, height: 5), SampleRect(x: 0, y: 0, width: .infinity, height: 5),
            SampleRect(x: 0, y: 0, width: 0, height: 5), SampleRect(x: 8, y: 8, width: 5, height: 1),
        ]
        for window in windows {
            #expect { try Resampler.resample(source, window: window, to: size(3, 3), context: context) } throws: {
                ($0 as? ImageError)?.code == 5001
            }
        }
        #expect(throws: ImageError.self) {
            try Resampler.resample(source, window: SampleRect(source.size), to: size(0, 3), context: context)
        }
        let limited = ImageProcessingContext(limits: ImageLimits(maxDecodedBytes: 1_000))
        #expect {
            try Resampler.resample(source, window: SampleRect(source.size), to: size(30, 30), context: limited)
        } throws: { ($0 as? ImageError)?.code == ImageError.LimitFailure.Kind.decodedSize.rawValue }
    }

    @Test("A source that is shorter than its size requires throws")
    func refusesShortSource() throws {
        let canvas = try PixelCanvas(size: size(4, 4))
        let bytes = [UInt8](repeating: 0, count: 100)
        for (claimed, stride) in [(size(5, 6), 20), (size(6, 5), 20), (size(5, 5), 21), (size(5, 5), 0)] {
            var code = 0
            bytes.withUnsafeBytes { raw in
                do throws(ImageError) {
                    try Resampler.resample(
                        source: raw, sourceSize: claimed, sourceBytesPerRow: stride,
                        window: SampleRect(x: 0, y: 0, width: 1, height: 1), into: canvas, filter: .box,
                        context: context)
                } catch { code = error.code }
            }
            #expect(code == 5001, "\(claimed) \(stride)")
        }
    }

    @Test("A canceled resampling stops")
    func stops() throws {
        let flag = CancellationFlag()
        flag.cancel()
        let source = try PixelMaking.buffer(600, 600, isOpaque: true) { _, _ in [1, 2, 3, 255] }
        let cancelled = ImageProcessingContext(limits: .unlimited, isCancelled: { flag.isCancelled })
        #expect {
            try Resampler.resample(source, window: SampleRect(source.size), to: size(100, 100), context: cancelled)
        } throws: { ($0 as? ImageError) == .cancelled }
    }
}
