// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestBasics

@testable import WebImageCodecs

/// Images with 16 bits per sample are decoded by libpng, like large images.
@Suite("PNG files that are scaled down row by row", .timeLimit(.minutes(5)))
struct PNGDownscalerTests {
    /// The files by width, height, and number of channels.
    private static let files = SharedValues<[Int], Data>()

    /// Returns a file with waves and added noise. With 4 channels, the image has alpha.
    private func file(_ width: Int, _ height: Int, channels: Int) throws -> Data {
        try Self.files.value(for: [width, height, channels]) {
            var random = SeededGenerator(3)
            var picture = HandmadePNG(width: width, height: height, channels: channels, bits: 16, using: &random)
            for y in 0..<height {
                for x in 0..<width {
                    for channel in 0..<channels {
                        let wave = sin(Double(x * (channel + 1)) / 23) * cos(Double(y) / Double(17 + channel))
                        let noise = Int.random(in: -900...900, using: &random)
                        let value = UInt16(clamping: Int((wave * 0.5 + 0.5) * 65_535) + noise)
                        let place = ((y * width + x) * channels + channel) * 2
                        picture.samples[place] = UInt8(value >> 8)
                        picture.samples[place + 1] = UInt8(value & 255)
                    }
                }
            }
            picture.filters = [UInt8](repeating: 0, count: height)
            return picture.bytes()
        }
    }

    private func decode(_ data: Data, _ options: ImageDecodingOptions, limits: ImageLimits = .desktop) throws
        -> DecodedImage
    {
        try ImageCoderRegistry.standard.decode(data, options: options, context: ImageProcessingContext(limits: limits))
    }

    @Test(
        "The result equals the full image, scaled down",
        arguments: [
            TargetSize.fit(width: 40, height: 40), .fill(width: 31, height: 17), .stretch(width: 50, height: 3),
            .fit(width: 1, height: 1),
        ], [1, 2, 3, 4])
    func isSame(_ target: TargetSize, _ channels: Int) throws {
        let data = try file(311, 207, channels: channels)
        let whole = try decode(data, ImageDecodingOptions())
        for reduction in [ResamplingFilter.lanczos3, .box] {
            let small = try decode(data, ImageDecodingOptions(size: target, resampling: reduction))
            let expected = try ResizeTransformer(to: target, filter: reduction == .box ? .box : .lanczos3)
                .transform(whole.pixels, context: ImageProcessingContext())
            #expect(small.size == expected.size && small.isOpaque == expected.isOpaque)
            #expect(similarity(small.pixels, expected) > 60)
            #expect(small.metadata.storedSize == PixelSize(width: 311, height: 207))
        }
    }

    @Test("A scaled image keeps 16 bits per sample")
    func keepsDepth() throws {
        let data = try file(200, 150, channels: 4)
        let target = TargetSize.fit(width: 20, height: 20)
        let small = try decode(data, ImageDecodingOptions(size: target, preservesBitDepth: true))
        let whole = try decode(data, ImageDecodingOptions(preservesBitDepth: true))
        let expected = try ResizeTransformer(to: target).transform(whole.pixels, context: ImageProcessingContext())
        #expect(small.pixels.format == .rgba16)
        #expect(difference(words(small.pixels), words(expected)).largest <= 2)
    }

    @Test("The full image is never held in memory")
    func memory() throws {
        let data = try file(600, 400, channels: 3)
        var limits = ImageLimits.desktop
        limits.maxDecodedBytes = 400_000
        let target = TargetSize.fit(width: 64, height: 64)
        // The full image needs 960,000 bytes.
        #expect(throws: ImageError.self) { try decode(data, ImageDecodingOptions(), limits: limits) }
        #expect(try decode(data, ImageDecodingOptions(size: target), limits: limits).size.width == 64)
    }

    @Test("A truncated image throws or shows the received rows")
    func truncation() throws {
        let data = try file(300, 200, channels: 3)
        let target = TargetSize.fit(width: 30, height: 20)
        let cut = Data(data.prefix(data.count / 2))
        #expect(throws: ImageError.self) { try decode(cut, ImageDecodingOptions(size: target)) }
        let part = try decode(cut, ImageDecodingOptions(size: target, allowsPartialData: true))
        #expect(part.metadata.isPartial && !part.isOpaque)
        let whole = try decode(data, ImageDecodingOptions(size: target))
        #expect(part.pixels.packedBytes().prefix(30 * 4 * 7) == whole.pixels.packedBytes().prefix(30 * 4 * 7))
        #expect(part.pixels.pixel(x: 3, y: 19)?.alpha == 0)
    }

    @Test("Orientation and colors equal those of the full image", arguments: ColorFixture.all)
    func colours(_ fixture: ColorFixture) throws {
        guard fixture.format == .png else { return }
        let target = TargetSize.fit(width: 12, height: 12)
        let small = try fixture.decode(ImageDecodingOptions(size: target))
        let whole = try fixture.decode()
        let expected = try ResizeTransformer(to: target).transform(whole.pixels, context: ImageProcessingContext())
        // Colors that are similar to sRGB are converted after scaling.
        #expect(similarity(small.pixels, expected) > 30)
    }
}
