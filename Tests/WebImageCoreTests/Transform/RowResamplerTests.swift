// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageCore

@Suite("Incremental resampling of rows")
struct RowResamplerTests {
    /// Returns random premultiplied pixels.
    private func noise(_ size: PixelSize, _ format: PixelFormat, using random: inout SeededGenerator) throws
        -> PixelBuffer
    {
        let canvas = try PixelCanvas(size: size, format: format)
        for y in 0..<size.height {
            let row = canvas.baseAddress + y * canvas.bytesPerRow
            for x in 0..<size.width {
                let alpha = Int.random(in: 0...Int(format.maximum), using: &random)
                for channel in 0..<4 {
                    let value = channel == 3 ? alpha : Int.random(in: 0...alpha, using: &random)
                    switch format {
                    case .rgba8: row.samples8[x * 4 + channel] = UInt8(value)
                    case .rgba16: row.samples16[x * 4 + channel] = UInt16(value)
                    }
                }
            }
        }
        return canvas.finish(isOpaque: false)
    }

    private func largestStep(_ first: PixelBuffer, _ second: PixelBuffer) -> Int {
        let (left, right) = (first.packedBytes(), second.packedBytes())
        guard left.count == right.count else { return .max }
        guard first.format == .rgba16 else { return zip(left, right).map { abs(Int($0) - Int($1)) }.max() ?? 0 }
        func sample(_ bytes: [UInt8], _ place: Int) -> Int { Int(bytes[place]) + Int(bytes[place + 1]) * 256 }
        let places = Array(stride(from: 0, to: left.count, by: 2))
        return places.map { abs(sample(left, $0) - sample(right, $0)) }.max() ?? 0
    }

    @Test(
        "Bands of any height produce the same result as the whole image",
        arguments: [PixelFormat.rgba8, .rgba16], [1, 2, 3, 4, 5])
    func bands(_ format: PixelFormat, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let context = ImageProcessingContext()
        for _ in 0..<12 {
            let size = PixelSize(
                width: Int.random(in: 1...90, using: &random), height: Int.random(in: 1...90, using: &random))
            let pixels = try noise(size, format, using: &random)
            let output = PixelSize(
                width: Int.random(in: 1...size.width, using: &random),
                height: Int.random(in: 1...(size.height + 20), using: &random))
            let left = Double.random(in: 0..<Double(size.width) / 2, using: &random)
            let top = Double.random(in: 0..<Double(size.height) / 2, using: &random)
            let window = SampleRect(
                x: left, y: top, width: Double(size.width) - left * 1.5, height: Double(size.height) - top * 1.5)
            let filters: [ResamplingFilter] = [
                .lanczos3, .box, .mitchell, .lanczos3(light: .encoded), .box(light: .encoded),
            ]
            let filter = filters.randomElement(using: &random) ?? .lanczos3
            var rows = try RowResampler(
                sourceSize: size, window: window, to: output, format: format, filter: filter, context: context)
            var row = 0
            while row < size.height {
                let count = min(Int.random(in: 1...40, using: &random), size.height - row)
                try rows.add(
                    StandardTransformer.crop(PixelRect(x: 0, y: row, width: size.width, height: count))
                        .transform(pixels, context: ImageProcessingContext()), context: context)
                row += count
            }
            let isComplete = rows.isComplete
            #expect(isComplete)
            let expected = try Resampler.resample(pixels, window: window, to: output, filter: filter, context: context)
            #expect(largestStep(rows.finish(isOpaque: false), expected) <= 1)
        }
    }

    /// At these ratios, a kernel is zero at every pixel around the centers of some output pixels except for one, so that
    /// these need fewer rows than their neighbors.
    @Test("Enlargements in low bands produce the same result as the whole image", arguments: [1, 2, 3, 5])
    func enlargements(_ bandHeight: Int) throws {
        var random = SeededGenerator(seed: 7)
        let context = ImageProcessingContext()
        for (height, result) in [(6, 50), (12, 100), (9, 27), (8, 24), (5, 5), (30, 90)] {
            let size = PixelSize(width: 3, height: height)
            let output = PixelSize(width: 4, height: result)
            for kernel in ResamplingFilter.Kernel.allCases {
                for light in ResamplingFilter.Light.allCases {
                    let filter = ResamplingFilter(kernel, light: light)
                    let pixels = try noise(size, .rgba8, using: &random)
                    var rows = try RowResampler(
                        sourceSize: size, window: SampleRect(size), to: output, format: .rgba8, filter: filter,
                        context: context)
                    for row in stride(from: 0, to: height, by: bandHeight) {
                        let part = PixelRect(x: 0, y: row, width: size.width, height: min(bandHeight, height - row))
                        let band = try StandardTransformer.crop(part).transform(pixels, context: context)
                        try rows.add(band, context: context)
                    }
                    let expected = try Resampler.resample(
                        pixels, window: SampleRect(size), to: output, filter: filter, context: context)
                    let step = largestStep(rows.finish(isOpaque: false), expected)
                    #expect(step <= 1, "\(size) to \(output) with \(filter)")
                }
            }
        }
    }

    @Test("Rows with another width or format and excess rows throw")
    func refusal() throws {
        var random = SeededGenerator(seed: 1)
        let size = PixelSize(width: 8, height: 8)
        var rows = try RowResampler(
            sourceSize: size, window: SampleRect(size), to: PixelSize(width: 2, height: 2), format: .rgba8,
            filter: .box, context: ImageProcessingContext())
        let others = [
            try noise(PixelSize(width: 7, height: 1), .rgba8, using: &random),
            try noise(PixelSize(width: 8, height: 1), .rgba16, using: &random),
            try noise(PixelSize(width: 8, height: 9), .rgba8, using: &random),
        ]
        for other in others {
            var isRefused = false
            do throws(ImageError) { try rows.add(other, context: ImageProcessingContext()) } catch { isRefused = true }
            #expect(isRefused)
        }
        let isComplete = rows.isComplete
        #expect(!isComplete)
    }
}
