// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

@Suite("Reducing images whose samples aren't similar to sRGB")
struct LightCurveDecodingTests {
    /// A checkerboard in a color space, and the sample with half of its light.
    struct Board: Sendable {
        let transfer: Int
        let sample: Double
        let half: Double

        static let all = [
            Board(transfer: 16, sample: 0.751_827, half: 0.676_585), Board(transfer: 18, sample: 0.75, half: 0.632_397),
            Board(transfer: 8, sample: 1, half: 0.5),
        ]

        /// A PNG file with the code points.
        func file(side: Int) throws -> Data {
            let canvas = try PixelCanvas(size: PixelSize(width: side, height: side), format: .rgba16)
            let word = UInt16((sample * 65_535).rounded())
            for y in 0..<side {
                let row = (canvas.baseAddress + y * canvas.bytesPerRow).assumingMemoryBound(to: UInt16.self)
                if y > 1 {
                    // All other rows equal the first two.
                    memcpy(row, canvas.baseAddress + y % 2 * canvas.bytesPerRow, side * 8)
                    continue
                }
                for x in 0..<side * 4 { row[x] = x % 4 == 3 ? 65_535 : (x / 4 + y).isMultiple(of: 2) ? word : 0 }
            }
            let points = ColorCodePoints(primaries: transfer == 8 ? 1 : 9, transfer: transfer)
            let image = DecodedImage(
                pixels: canvas.finish(isOpaque: true),
                metadata: ImageMetadata(
                    storedSize: PixelSize(width: side, height: side), bitDepth: 16, codePoints: points, color: .source))
            return try image.encoded(as: .png)
        }
    }

    private func center(_ image: DecodedImage) -> Double {
        let pixels = image.pixels
        return pixels.withUnsafeBytes { bytes in
            let place = pixels.height / 2 * pixels.bytesPerRow + pixels.width / 2 * pixels.format.bytesPerPixel
            return pixels.format == .rgba8
                ? Double(bytes[place]) / 255 : Double(bytes.load(fromByteOffset: place, as: UInt16.self)) / 65_535
        }
    }

    @Test(
        "A checkerboard in PQ, HLG, or linear light is reduced to half of its light", arguments: Board.all,
        [64, 1_100])
    func reduces(board: Board, side: Int) throws {
        // The larger image is reduced row by row.
        let data = try board.file(side: side)
        var options = ImageDecodingOptions(size: .fit(width: Double(side / 4)))
        options.color = .source
        for preservesBitDepth in [true, false] {
            options.preservesBitDepth = preservesBitDepth
            let image = try DecodedImage(data: data, options: options)
            #expect(abs(center(image) - board.half) < (preservesBitDepth ? 0.0005 : 1.5 / 255))
        }
        options.size = nil
        options.preservesBitDepth = true
        let whole = try DecodedImage(data: data, options: options)
        let small = try StandardTransformer.resize(width: Double(side / 4)).apply(to: whole)
        #expect(abs(center(small) - board.half) < 0.0005)
    }

    @Test(
        "Images in linear light that are encoded with 8 bits become sRGB, or Display P3 if their gamut is wider",
        arguments: [ImageFormat.png, .jxl].filter(ImageCoderRegistry.standard.canEncode), [1, 9])
    func encodes(format: ImageFormat, primaries: Int) throws {
        let canvas = try PixelCanvas(size: PixelSize(width: 256, height: 16), format: .rgba16)
        for y in 0..<16 {
            let row = (canvas.baseAddress + y * canvas.bytesPerRow).assumingMemoryBound(to: UInt16.self)
            // The darkest 2% of the light, which has only 5 levels in 8 bits.
            for x in 0..<256 * 4 { row[x] = x % 4 == 3 ? 65_535 : UInt16(x / 4 * 5) }
        }
        let metadata = ImageMetadata(
            storedSize: canvas.size, bitDepth: 16, codePoints: ColorCodePoints(primaries: primaries, transfer: 8),
            color: .source)
        let data = try DecodedImage(pixels: canvas.finish(isOpaque: true), metadata: metadata)
            .encoded(as: ImageEncoding(format: format, isLossless: true))
        let encoding = ImageEncoding(format: .webp, isLossless: true)
        var options = ImageDecodingOptions().preparing(for: encoding, after: [])
        let image = try DecodedImage(data: data, options: options)
        #expect(image.metadata.color == (primaries == 1 ? .sRGB : .displayP3))
        let file = try image.encoded(as: encoding)
        var source = ImageDecodingOptions()
        source.color = .source
        let pixels = try DecodedImage(data: file, options: source).pixels
        let shades = Set((0..<256).compactMap { pixels.color(x: $0, y: 8)?.green })
        #expect(shades.count > 30, "\(shades.count)")
        options.preservesBitDepth = true
        #expect(try DecodedImage(data: data, options: options).metadata.color == .source)
    }

    @Test(
        "A linear profile has the same effect as code points",
        .enabled(if: ImageCoderRegistry.standard.canEncode(.tiff), "the trait TIFF is off"))
    func profiles() throws {
        var options = ImageDecodingOptions()
        options.color = .source
        options.preservesBitDepth = true
        let whole = try DecodedImage(data: try Board.all[2].file(side: 64), options: options)
        options.size = .fit(width: 16)
        let small = try DecodedImage(data: try whole.encoded(as: .tiff), options: options)
        #expect(small.metadata.iccProfile != nil)
        #expect(abs(center(small) - 0.5) < 0.0005)
    }
}
