// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageCore

@Suite("Resampling in the light of other curves")
struct LightCurveTests {
    /// A checkerboard of black and of a sample, and the sample with half of its light.
    struct Board: Sendable, CustomTestStringConvertible {
        let curve: LightCurve
        let sample: Double
        let half: Double
        var testDescription: String { "\(curve)" }

        static let all = [
            // 1,000 and 500 cd/m².
            Board(curve: .pq, sample: 0.751_827, half: 0.676_585),
            // 203 and 101.5 cd/m² on a display with 1,000 cd/m².
            Board(curve: .hlg, sample: 0.75, half: 0.632_397),
            Board(curve: .linear, sample: 1, half: 0.5),
            Board(curve: .gamma18, sample: 1, half: 0.680_395),
            Board(curve: .sRGB, sample: 1, half: 0.735_357),
        ]

        /// Returns the checkerboard. Its pixels are opaque, or each alpha is `alpha`.
        func pixels(_ format: PixelFormat, alpha: Double = 1, side: Int = 64) throws -> PixelBuffer {
            let canvas = try PixelCanvas(size: PixelSize(width: side, height: side), format: format)
            let maximum = format == .rgba8 ? 255.0 : 65_535
            for y in 0..<side {
                let row = canvas.baseAddress + y * canvas.bytesPerRow
                for x in 0..<side {
                    let value = (x + y).isMultiple(of: 2) ? sample * alpha : 0
                    for channel in 0..<4 {
                        let stored = ((channel == 3 ? alpha : value) * maximum).rounded()
                        switch format {
                        case .rgba8: row.samples8[x * 4 + channel] = UInt8(stored)
                        case .rgba16: row.samples16[x * 4 + channel] = UInt16(stored)
                        }
                    }
                }
            }
            return canvas.finish(isOpaque: alpha == 1)
        }
    }

    /// Returns the straight green sample in the center, from 0 to 1.
    private func center(_ pixels: PixelBuffer) -> Double {
        pixels.withUnsafeBytes { bytes in
            let place = pixels.height / 2 * pixels.bytesPerRow + pixels.width / 2 * pixels.format.bytesPerPixel
            switch pixels.format {
            case .rgba8: return Double(bytes[place + 1]) / Double(bytes[place + 3])
            case .rgba16:
                let word = { bytes.load(fromByteOffset: place + $0, as: UInt16.self) }
                return Double(word(2)) / Double(word(6))
            }
        }
    }

    private func context(_ board: Board) -> ImageProcessingContext {
        ImageProcessingContext(limits: .unlimited).with(lightCurve: board.curve)
    }

    @Test(
        "A checkerboard becomes half of its light", arguments: Board.all, [PixelFormat.rgba8, .rgba16])
    func averages(board: Board, format: PixelFormat) throws {
        for alpha in [1, 0.6] {
            let source = try board.pixels(format, alpha: alpha)
            let tolerance = format == .rgba8 ? 1.2 / 255 / alpha : 0.0002
            for filter in [ResamplingFilter.box, .lanczos3] {
                let small = try Resampler.resample(
                    source, window: SampleRect(source.size), to: PixelSize(width: 16, height: 16), filter: filter,
                    context: context(board))
                #expect(abs(center(small) - board.half) < tolerance, "\(filter), alpha \(alpha)")
            }
            var rows = try RowResampler(
                sourceSize: source.size, window: SampleRect(source.size), to: PixelSize(width: 16, height: 16),
                format: format, filter: .box, context: context(board))
            try rows.add(source, context: context(board))
            #expect(abs(center(rows.finish(isOpaque: alpha == 1)) - board.half) < tolerance)
        }
    }

    @Test("A uniform image keeps its samples", arguments: LightCurve.allCases)
    func keeps(curve: LightCurve) throws {
        for sample in [0.0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1] {
            let canvas = try PixelCanvas(size: PixelSize(width: 32, height: 32), format: .rgba16)
            for y in 0..<32 {
                let row = (canvas.baseAddress + y * canvas.bytesPerRow).samples16
                for x in 0..<32 * 4 { row[x] = x % 4 == 3 ? 65_535 : UInt16((sample * 65_535).rounded()) }
            }
            let small = try Resampler.resample(
                canvas.finish(isOpaque: true), window: SampleRect(PixelSize(width: 32, height: 32)),
                to: PixelSize(width: 8, height: 8),
                context: ImageProcessingContext(limits: .unlimited).with(lightCurve: curve))
            #expect(abs(center(small) - sample) < 1.5e-4, "\(sample)")
        }
    }

    @Test("Transformers use the curve of the pixels", arguments: Board.all)
    func transforms(board: Board) throws {
        let pixels = try board.pixels(.rgba16)
        var metadata = ImageMetadata(storedSize: pixels.size, color: .source)
        switch board.curve {
        case .pq: metadata.transferCharacteristics = 16
        case .hlg: metadata.transferCharacteristics = 18
        default: metadata.sourceCurve = board.curve
        }
        let image = DecodedImage(pixels: pixels, metadata: metadata)
        let small = try StandardTransformer.resize(width: 16, filter: .box).apply(to: image)
        #expect(abs(center(small.pixels) - board.half) < 0.0002)
        metadata.color = .sRGB
        #expect(metadata.lightCurve == .sRGB)
    }

    @Test("A rotation averages the light of the curve across an edge", arguments: Board.all)
    func rotates(board: Board) throws {
        let canvas = try PixelCanvas(size: PixelSize(width: 60, height: 60), format: .rgba16)
        for y in 0..<60 {
            let row = (canvas.baseAddress + y * canvas.bytesPerRow).samples16
            for x in 0..<60 * 4 {
                row[x] = x % 4 == 3 ? 65_535 : x / 4 < 30 ? 0 : UInt16((board.sample * 65_535).rounded())
            }
        }
        let source = canvas.finish(isOpaque: true)
        func samples(_ light: ResamplingFilter.Light) throws -> [Double] {
            let turned = try RotateTransformer(degrees: 30, mode: .clip, light: light)
                .transform(source, context: context(board))
            return turned.withUnsafeBytes { bytes in
                (10..<50).map { x in
                    Double(bytes.load(fromByteOffset: 30 * turned.bytesPerRow + x * 8, as: UInt16.self)) / 65_535
                }
            }
        }
        let shares = try samples(.encoded).map { $0 / board.sample }
        #expect(shares.contains { (0.2...0.8).contains($0) })
        for (share, sample) in zip(shares, try samples(.linear)) where share > 0.05 {
            let expected = board.curve.encoded(min(1, share * board.curve.light(board.sample)))
            #expect(abs(sample - expected) < 0.001)
        }
    }

    @Test("The samples and the light of a curve are inverse", arguments: LightCurve.allCases)
    func inverse(curve: LightCurve) {
        for step in 0...100 {
            let sample = Double(step) / 100
            #expect(abs(curve.encoded(curve.light(sample)) - sample) < 1e-6)
        }
        #expect(curve == .pq || curve == .hlg || LightCurve(middle: curve.light(0.5)) == curve)
    }
}
