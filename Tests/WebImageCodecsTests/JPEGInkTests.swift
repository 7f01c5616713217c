// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("JPEG files with inks")
struct JPEGInkTests {
    /// Blocks of red, green, blue, white, a mixture, and black, in two rows. Samples of 255 mean no ink.
    private static func file(isProgressive: Bool) -> JPEGParts {
        let colors: [[UInt8]] = [
            [255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255], [200, 100, 50, 128],
            [255, 255, 255, 0],
        ]
        let blocks = colors + colors.reversed()
        // These are the identifiers that libjpeg-turbo writes for CMYK.
        return JPEGParts(
            FlatJPEG(identifiers: Array("CMYK".utf8), columns: 6, blocks: blocks, isProgressive: isProgressive).file)
    }

    private static let expected: [[UInt8]] = [
        [255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [100, 50, 25], [0, 0, 0],
    ]

    private static let jfif = JPEGParts.Segment(
        marker: 0xE0, body: Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
    /// Adobe’s marker with the transform 0, which means CMYK.
    private static let adobe = JPEGParts.Segment(
        marker: 0xEE, body: Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])

    /// The segments with which a file can begin.
    private static let beginnings: [[JPEGParts.Segment]] =
        [[adobe], [], [jfif], [jfif, adobe], [adobe, jfif]]
        + [5, 7, 11].map { [JPEGParts.Segment(marker: 0xEE, body: Array(adobe.body.prefix($0)))] }

    private func decode(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, options: options, context: ImageProcessingContext())
    }

    /// Checks the color of each block in an image whose blocks have `side` × `side` pixels.
    private func expectColors(_ pixels: PixelBuffer, side: Int) {
        for (index, color) in (Self.expected + Self.expected.reversed()).enumerated() {
            let pixel = pixels.pixel(x: index % 6 * side + side / 2, y: index / 6 * side + side / 2)
            let found = pixel.map { [$0.red, $0.green, $0.blue] } ?? []
            // Resampling in linear light rounds.
            #expect(difference(found, color) <= 1, "block \(index): \(found)")
        }
    }

    @Test(
        "The colors don’t depend on Adobe’s marker, also in reduced images and previews",
        arguments: [false, true], beginnings.indices)
    func marker(_ isProgressive: Bool, _ beginning: Int) throws {
        let data = Self.file(isProgressive: isProgressive).beginning(with: Self.beginnings[beginning]).file
        let image = try decode(data)
        #expect(image.isOpaque && image.size == PixelSize(width: 48, height: 16))
        expectColors(image.pixels, side: 8)
        // The decoder reduces the image by 4 while it decodes it, and then the result to the requested size.
        let small = ImageDecodingOptions(size: .fit(width: 6, height: 2), resampling: .box)
        expectColors(try decode(data, small).pixels, side: 1)
        var feeding = try #require(try Feeding(data))
        let preview = try #require(try feeding.finish { 7 })
        #expect(preview.isComplete)
        expectColors(preview.image.pixels, side: 8)
        var reduced = try #require(try Feeding(data, options: small))
        expectColors(try #require(try reduced.finish { 50 }).image.pixels, side: 1)
    }

    @Test("A color profile applies to the same inks with and without Adobe’s marker", arguments: [false, true])
    func profile(_ isProgressive: Bool) throws {
        let profile = JPEGParts.profile(try ColorFixture.profile("cmyk"), parts: 1)
        let parts = Self.file(isProgressive: isProgressive).beginning(with: profile)
        let marked = try decode(parts.beginning(with: [Self.adobe]).file)
        let plain = try decode(parts.file)
        #expect(plain.pixels.hasSamePixels(as: marked.pixels))
        // No ink is white.
        let white = plain.pixels.pixel(x: 28, y: 4)
        #expect(white.map { min($0.red, $0.green, $0.blue) > 240 } == true)
        let black = plain.pixels.pixel(x: 44, y: 4)
        #expect(black.map { max($0.red, $0.green, $0.blue) < 128 } == true)
    }

    @Test("The inks of a fixture with the transform YCCK keep their colors")
    func converted() throws {
        let fixture = try Fixture.named("cmyk.jpg")
        #expect(difference(try fixture.decode().pixels.packedBytes(), try fixture.expectedFrames()[0]) <= 2)
    }

    @Test(
        "The CMYK files of a bug report have the same colors",
        .enabled(if: SharedCases.directory != nil, "the shared cases aren't available"))
    func report() throws {
        let plain = try decode(try SharedCases.data("jpeg-cmyk-noadobe.jpg"))
        let marked = try decode(try SharedCases.data("jpeg-cmyk-adobe0.jpg"))
        #expect(plain.pixels.hasSamePixels(as: marked.pixels))
        // The colors of the quarters, from left to right and from top to bottom.
        let colors: [[UInt8]] = [[220, 30, 30], [30, 200, 30], [30, 30, 220], [240, 240, 240]]
        let (width, height) = (plain.size.width, plain.size.height)
        for (index, color) in colors.enumerated() {
            let (x, y) = (index % 2 * width / 2 + width / 4, index / 2 * height / 2 + height / 4)
            let found = plain.pixels.pixel(x: x, y: y).map { [$0.red, $0.green, $0.blue] } ?? []
            #expect(difference(found, color) < 4, "quarter \(index)")
        }
    }
}
