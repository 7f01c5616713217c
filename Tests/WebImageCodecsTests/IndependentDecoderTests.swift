// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// Tests in which independent decoders read the encoded files: Pillow and ffmpeg for GIF and animated PNG, and djxl
/// for JPEG XL. Pillow decodes WebP with the animation decoder of libwebp.
@Suite("Reading animations with other decoders", .timeLimit(.minutes(5)))
struct IndependentDecoderTests {
    /// The result of an independent decoder.
    private struct Reading {
        var frames: [[UInt8]]
        var loopCount: Int?
        var durations: [Int]?
    }

    private static let script = Fixtures.directory.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Scripts/frames").path(percentEncoded: false)
    private static let hasPillow = succeeds("/usr/bin/python3", "-c", "import PIL")
    private static let hasFFmpeg = succeeds("/usr/bin/ffmpeg", "-version")
    private static let hasDJXL =
        succeeds("/usr/bin/djxl", "--version") && ImageCoderRegistry.standard.canEncode(.jxl)

    private static func succeeds(_ words: String...) -> Bool {
        (try? run(words, in: TemporaryDirectory())) == 0
    }

    private static func run(_ words: [String], in folder: TemporaryDirectory) throws -> Int32 {
        try ChildProcess(words[0], Array(words.dropFirst()), in: folder.url, output: "said").wait()
    }

    private func pillow(_ file: String, in folder: TemporaryDirectory) throws -> Reading {
        let status = try Self.run(["/usr/bin/python3", Self.script, file, "frames.rgba"], in: folder)
        let said = try String(contentsOf: folder.url.appending(path: "said"), encoding: .utf8)
        try #require(status == 0, "\(said)")
        let numbers = said.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        let frames = try split(folder.url.appending(path: "frames.rgba"), numbers[0] * numbers[1] * 4)
        return Reading(frames: frames, loopCount: numbers[2], durations: Array(numbers[3...]))
    }

    private func ffmpeg(_ file: String, _ size: PixelSize, in folder: TemporaryDirectory) throws -> Reading {
        let words = [
            "/usr/bin/ffmpeg", "-v", "error", "-y", "-i", file, "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt",
            "rgba", "frames.rgba",
        ]
        try #require(try Self.run(words, in: folder) == 0)
        return Reading(frames: try split(folder.url.appending(path: "frames.rgba"), size.width * size.height * 4))
    }

    private func split(_ file: URL, _ frameBytes: Int) throws -> [[UInt8]] {
        let bytes = [UInt8](try Data(contentsOf: file))
        return stride(from: 0, to: bytes.count, by: frameBytes).map {
            premultiplied(Array(bytes[$0..<min(bytes.count, $0 + frameBytes)]))
        }
    }

    private func expect(_ reading: Reading, is image: DecodedImage, countsRepetitions: Bool = false) throws {
        let animation = try #require(image.animation)
        try #require(reading.frames.count == image.frameCount)
        for place in 0..<image.frameCount {
            let isSame = try reading.frames[place] == animation.frame(at: place).packedBytes()
            #expect(isSame, "frame \(place)")
        }
        if let durations = reading.durations { #expect(durations == animation.timeline.durations) }
        // Without a loop block, an animation plays once. Pillow returns the number in a GIF file, which counts repetitions.
        if let loops = reading.loopCount {
            let plays = loops < 0 ? 1 : countsRepetitions && loops > 0 ? loops + 1 : loops
            #expect(plays == animation.timeline.loopCount)
        }
    }

    private func write(_ image: DecodedImage, _ encoding: ImageEncoding, to folder: TemporaryDirectory, _ name: String)
        throws
    {
        try coder(for: encoding.formatOrAutomatic).encode(image, as: encoding, context: ImageProcessingContext())
            .write(to: folder.url.appending(path: name))
    }

    @Test(
        "Pillow reads every pixel, delay, and loop count", .enabled(if: hasPillow, "requires python3-pil"),
        arguments: [ImageEncoding.gif, .apng, .webp.lossless], [1, 2, 3, 4, 5] as [UInt64])
    func pillowReads(_ encoding: ImageEncoding, _ seed: UInt64) throws {
        let folder = try TemporaryDirectory()
        let image = try AnimationEncodingTests.blocks(seed: 100 + seed, count: 12, loops: Int(seed) - 1)
        try write(image, encoding, to: folder, "picture")
        try expect(pillow("picture", in: folder), is: image, countsRepetitions: encoding.format == .gif)
    }

    @Test(
        "The ffmpeg program reads every pixel", .enabled(if: hasFFmpeg, "requires ffmpeg"),
        arguments: [ImageEncoding.gif, .apng], [1, 2, 3, 4, 5] as [UInt64])
    func ffmpegReads(_ encoding: ImageEncoding, _ seed: UInt64) throws {
        let folder = try TemporaryDirectory()
        let image = try AnimationEncodingTests.blocks(seed: 200 + seed, count: 12)
        let name = encoding.format == .gif ? "picture.gif" : "picture.apng"
        try write(image, encoding, to: folder, name)
        try expect(ffmpeg(name, image.size, in: folder), is: image)
    }

    @Test(
        "The djxl program reads every pixel, delay, and loop count",
        .enabled(if: hasDJXL && hasPillow, "requires libjxl-tools, python3-pil, and the trait JXL"),
        arguments: [1, 2, 3] as [UInt64])
    func djxlReads(_ seed: UInt64) throws {
        let folder = try TemporaryDirectory()
        let alphas: [UInt8] = seed == 3 ? [0, 1, 100, 200, 255] : [0, 255]
        let image = try AnimationEncodingTests.blocks(
            seed: 300 + seed, count: 12, alphas: alphas, loops: Int(seed) - 1)
        try write(image, ImageEncoding(format: .jxl, isLossless: true), to: folder, "picture.jxl")
        try #require(try Self.run(["/usr/bin/djxl", "picture.jxl", "picture.apng"], in: folder) == 0)
        try expect(pillow("picture.apng", in: folder), is: image)
    }
}

extension TemporaryDirectory {
    fileprivate var url: URL { URL(filePath: path) }
}
