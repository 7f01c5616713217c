// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage

@Suite("Sizes in percent", .timeLimit(.minutes(5)))
struct PercentageSizeTests {
    /// Returns a JPEG of 64 × 32 stored pixels. Its orientation makes it 32 × 64.
    private func rotated() throws -> Data {
        let exif = Array("Exif\0\0".utf8) + ExifBlock.only(.right).serialized()
        let jpeg = try SampleImages.jpeg(width: 64, height: 32)
        return jpeg.prefix(2) + Data([0xFF, 0xE1, 0, UInt8(exif.count + 2)]) + exif + jpeg.dropFirst(2)
    }

    @Test(
        "The percentages apply to the image with its orientation, and the pixels are those of the same size in pixels")
    func decode() async throws {
        let tool = try ToolProcess()
        try tool.write(try rotated(), "a.jpg")
        for (percentages, pixels, size) in [
            ("50%", "16x32!", "16 32"), ("50%x25%", "16x16!", "16 16"), ("12.5%", "4x8!", "4 8"),
            ("200%x100%", "64x64!", "64 64"), ("0.01%", "1x1!", "1 1"),
        ] {
            let result = try await tool.run("decode", "a.jpg", "-s", percentages)
            #expect(result.status == 0 && result.error == "\(size)\n", "\(percentages): \(result.error)")
            #expect(try await tool.run("decode", "a.jpg", "-s", pixels).bytes == result.bytes, "\(percentages)")
        }
    }

    @Test("The commands convert, thumbnail, and fetch, and the transformer resize accept percentages")
    func commands() async throws {
        let tool = try ToolProcess()
        try tool.write(try rotated(), "a.jpg")
        for words in [
            ["convert", "-s", "50%x25%"], ["thumbnail", "-s", "50%x25%"], ["fetch", "-s", "50%x25%"],
            ["convert", "-t", "resize=50%x25%"], ["thumbnail", "-s", "100%", "-t", "resize=50%x25%"],
            ["fetch", "-t", "resize=50%x25%"], ["convert", "-s", "200%", "-t", "resize=25%x12.5%"],
        ] {
            let result = try await tool.start(words + ["a.jpg", "-o", "out.png", "-y"]).result
            #expect(result.status == 0, "\(words): \(result.error)")
            #expect(try ImageInfo(data: try tool.read("out.png")).size == PixelSize(width: 16, height: 16), "\(words)")
        }
    }

    @Test("Each frame of an animation has the size in percent")
    func animation() async throws {
        let tool = try ToolProcess()
        let frames = try (0..<3).map { _ in
            (pixels: try SampleImages.image(width: 40, height: 20).pixels, duration: Duration.milliseconds(40))
        }
        let animation = try DecodedImage(animation: ImageAnimation(frames: frames, loopCount: 0))
        try tool.write(
            try ImageCoderRegistry.standard.encode(animation, as: .gif, context: ImageProcessingContext()), "a.gif")
        #expect(try await tool.run("convert", "a.gif", "b.gif", "-s", "25%").status == 0)
        let result = try ImageCoderRegistry.standard.decode(try tool.read("b.gif"), context: ImageProcessingContext())
        #expect(result.size == PixelSize(width: 10, height: 5) && result.frameCount == 3)
    }

    @Test("Invalid percentages are usage errors, and a crop requires pixels", arguments: ["0%", "-5%", "1000000%"])
    func wrong(_ text: String) async throws {
        let tool = try ToolProcess()
        try tool.write(try rotated(), "a.jpg")
        for words in [
            ["convert", "a.jpg", "b.png", "--size=\(text)"], ["thumbnail", "a.jpg", "--size=\(text)"],
            ["fetch", "a.jpg", "--size=\(text)"], ["decode", "a.jpg", "--size=\(text)"],
        ] {
            let result = try await tool.start(words).result
            #expect(result.status == 64, "\(words)")
            #expect(
                result.error.contains(
                    "--size: “\(text)” isn’t a size (use percentages greater than 0%, up to 10000%, such as 50% or 50%x25%)"
                ), "\(result.error)")
        }
        let crop = try await tool.run("thumbnail", "a.jpg", "-s", "50%", "--crop", "center")
        #expect(crop.status == 64 && crop.error.contains("--crop requires a size with a width and a height"))
        let large = try await tool.run("convert", "a.jpg", "b.png", "-s", "10000%", "--max-pixels", "10000")
        #expect(large.status == 1 && large.error.contains("--max-pixels"), "\(large.error)")
    }
}
