// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCommand
import WebImageCore

@Suite("The options --filter and --light", .timeLimit(.minutes(3)))
struct ResamplingOptionTests {
    /// A PGM file whose pixels are alternately black and white.
    private static let checkerboard: Data = {
        let samples = (0..<64 * 64).map { ($0 % 64 + $0 / 64) % 2 == 0 ? UInt8.min : .max }
        return Data("P5 64 64 255\n".utf8) + samples
    }()

    @Test(
        "All commands that resize images use the kernel and the light",
        arguments: [
            ["convert", "a.pgm", "b.png", "-y"], ["thumbnail", "a.pgm", "-o", "b.png", "-y"],
            ["fetch", "a.pgm", "-o", "b.png", "-y"], ["decode", "a.pgm", "-o", "b.pam", "-y"],
            ["animate", "a.pgm", "-o", "b.gif", "-y"],
        ])
    func commands(_ words: [String]) async throws {
        let tool = try ToolProcess()
        try tool.write(Self.checkerboard, "a.pgm")
        let output = try #require(words.first { $0.hasPrefix("b.") })
        for (options, range) in [
            ([], 186...190), (["--light", "encoded"], 126...129), (["--filter", "box"], 186...190),
            (["--filter", "catmull-rom", "--light", "encoded"], 126...129),
        ] as [([String], ClosedRange<Int>)] {
            let result = try await tool.start(words + ["-s", "16"] + options).result
            #expect(result.status == 0, "\(result.error)")
            let image = try DecodedImage(data: try tool.read(output))
            let pixel = try #require(image.pixels.pixel(x: 8, y: 8))
            #expect(image.size == PixelSize(width: 16, height: 16) && range.contains(Int(pixel.green)), "\(options)")
        }
        #expect(try await tool.start(words + ["-s", "16", "--filter", "nearest"]).result.status == 0)
        let pixel = try #require(try DecodedImage(data: try tool.read(output)).pixels.pixel(x: 8, y: 8))
        #expect(pixel.green == 0 || pixel.green == 255)
        let wrong = try await tool.start(words + ["--filter", "sinc"]).result
        #expect(wrong.status == 64 && wrong.error.contains("nearest, box, bilinear, catmull-rom, mitchell, lanczos3"))
    }
}
