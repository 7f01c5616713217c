// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Animations from frames and sprite sheets")
struct AnimationSourcesTests {
    private func pixels(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        let stride = canvas.bytesPerRow
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    for (channel, value) in pixel(x, y).enumerated() { bytes[y * stride + x * 4 + channel] = value }
                }
            }
        }
        return canvas.finish(isOpaque: true)
    }

    private func plain(_ value: UInt8, width: Int = 4, height: Int = 3) throws -> PixelBuffer {
        try pixels(width, height) { _, _ in [value, value, value, 255] }
    }

    /// Returns frames with durations in milliseconds.
    private func timed(_ frames: [(PixelBuffer, Int)]) -> [(pixels: PixelBuffer, duration: Duration)] {
        frames.map { (pixels: $0.0, duration: Duration.milliseconds($0.1)) }
    }

    private func milliseconds(_ numbers: [Int]) -> [Duration] { numbers.map { Duration.milliseconds($0) } }

    @Test("Frames in memory play in order, and a frame that is used twice is counted once in the cost")
    func frames() throws {
        let first = try plain(1)
        let second = try plain(2)
        let animation = try ImageAnimation(frames: timed([(first, 40), (second, 5), (first, 60)]), loopCount: 3)
        #expect(animation.frameDurations == milliseconds([40, 100, 60]))
        #expect(animation.loopCount == 3 && animation.frameCount == 3)
        #expect(animation.cost == first.byteCount + second.byteCount)
        #expect(try (0..<3).map { try animation.frame(at: $0).packedBytes()[0] } == [1, 2, 1])
        let image = try DecodedImage(animation: animation)
        #expect(image.isAnimated && image.frameCount == 3)
        #expect(throws: ImageError.request(.frameNotFound(index: 3, frameCount: 3))) { try animation.frame(at: 3) }
    }

    @Test("An animation of one frame is a still image")
    func single() throws {
        let image = try DecodedImage(animation: ImageAnimation(frames: timed([(plain(9), 40)])))
        #expect(!image.isAnimated && image.frameCount == 1)
    }

    @Test("Invalid frame lists throw")
    func wrongLists() throws {
        let frame = try plain(1)
        let wide = try plain(1, width: 5)
        #expect(throws: ImageError.request(.invalidOption(name: "frames", value: "none"))) {
            try ImageAnimation(frames: timed([]))
        }
        #expect(throws: ImageError.self) { try ImageAnimation(frames: timed([(frame, 40), (wide, 40)])) }
        #expect(throws: ImageError.request(.invalidOption(name: "loopCount", value: "-1"))) {
            try ImageAnimation(frames: timed([(frame, 40)]), loopCount: -1)
        }
        #expect(throws: ImageError.self) { try ImageAnimation(frameDurations: milliseconds([])) { _ in frame } }
        let animation = try ImageAnimation(frameDurations: milliseconds([40, 40]), size: frame.size) {
            $0 == 0 ? frame : wide
        }
        #expect(throws: ImageError.self) { try animation.frame(at: 1) }
    }

    @Test("Frame durations are rounded to milliseconds, and durations below 11 ms become 100 ms")
    func durations() throws {
        let frame = try plain(1)
        let durations: [Duration] = [
            .microseconds(40_499), .microseconds(40_500), .milliseconds(10), .milliseconds(11), .zero, .seconds(-1),
            .seconds(3_600),
        ]
        let animation = try ImageAnimation(frameDurations: durations) { _ in frame }
        #expect(animation.frameDurations == milliseconds([40, 41, 100, 11, 100, 100, 3_600_000]))
        #expect(animation.frameCount == 7 && animation.loopCount == 0)
    }

    @Test("A frame file is read only when its frame is requested")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "frames-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let coders = ImageCoderRegistry([RawCoder()])
        let files = (0..<3).map { folder.appending(path: "\($0).raw") }
        try RawCoder.file(value: 7).write(to: files[0])
        try RawCoder.file(value: 8).write(to: files[2])
        let animation = try ImageAnimation(
            files: files.map { (url: $0, duration: Duration.milliseconds(50)) }, loopCount: 2, coders: coders)
        #expect(animation.frameDurations == milliseconds([50, 50, 50]) && animation.loopCount == 2)
        #expect(animation.cost == 0)
        #expect(try animation.frame(at: 2).packedBytes()[0] == 8)
        #expect(throws: ImageError.request(.fileNotFound(path: files[1].path))) { try animation.frame(at: 1) }
        try RawCoder.file(value: 9).write(to: files[1])
        #expect(try animation.frame(at: 1).packedBytes()[0] == 9)
        try FileManager.default.removeItem(at: files[0])
        #expect(throws: ImageError.request(.fileNotFound(path: files[0].path))) {
            try ImageAnimation(files: [(url: files[0], duration: Duration.milliseconds(50))], coders: coders)
        }
    }

    @Test("Encoded frames are decoded on demand")
    func encodedFrames() throws {
        let animation = try ImageAnimation(
            encodedFrames: ([3, 4] as [UInt8]).map {
                (data: RawCoder.file(value: $0), duration: Duration.milliseconds(20))
            },
            coders: ImageCoderRegistry([RawCoder()]))
        #expect(try animation.frame(at: 1).packedBytes()[0] == 4)
        #expect(animation.cost == 2 * RawCoder.file(value: 3).count)
    }

    @Test("The cells of a grid become frames row by row, without the spacing between them")
    func grid() throws {
        // Cells have 3 × 2 pixels and a spacing of one pixel. The value is the number of the cell, or 99 in the gaps.
        let pixels = try self.pixels(11, 5) { x, y in
            let isGap = x % 4 == 3 || y % 3 == 2
            return [isGap ? 99 : UInt8(y / 3 * 3 + x / 4), 0, 0, 255]
        }
        let animation = try ImageAnimation(
            spriteSheet: pixels, columns: 3, rows: 2, frameCount: 5, spacing: 1, frameDuration: .milliseconds(70),
            loopCount: 1)
        #expect(animation.frameDurations == milliseconds([70, 70, 70, 70, 70]) && animation.loopCount == 1)
        for place in 0..<5 {
            let frame = try animation.frame(at: place)
            #expect(frame.size == PixelSize(width: 3, height: 2) && frame.isOpaque)
            let bytes = frame.packedBytes()
            #expect(stride(from: 0, to: bytes.count, by: 4).allSatisfy { bytes[$0] == UInt8(place) })
        }
        #expect(animation.cost == pixels.byteCount)
    }

    @Test("The regions of a sprite sheet play in their order, with a common duration or a duration each")
    func regions() throws {
        let pixels = try self.pixels(6, 2) { x, _ in [UInt8(x / 2), 0, 0, 255] }
        let regions = [2, 0, 2, 1].map { PixelRect(x: $0 * 2, y: 0, width: 2, height: 2) }
        let steady = try ImageAnimation(spriteSheet: pixels, regions: regions, loopCount: 2)
        #expect(steady.frameDurations == milliseconds([100, 100, 100, 100]) && steady.loopCount == 2)
        #expect(try (0..<4).map { try steady.frame(at: $0).packedBytes()[0] } == [2, 0, 2, 1])
        let frames = zip(regions, milliseconds([20, 30, 40, 50])).map { (region: $0, duration: $1) }
        let varied = try ImageAnimation(spriteSheet: pixels, frames: frames)
        #expect(varied.frameDurations == milliseconds([20, 30, 40, 50]) && varied.loopCount == 0)
        #expect(try varied.frame(at: 3).packedBytes()[0] == 1)
        #expect(varied.cost == pixels.byteCount)
    }

    @Test("Invalid sprite sheets throw")
    func wrongSheets() throws {
        let pixels = try plain(1, width: 10, height: 10)
        for (columns, rows, spacing) in [(0, 1, 0), (11, 1, 0), (2, 2, -1), (2, 2, 10), (6, 1, 2), (2, Int.max, 0)] {
            #expect(throws: ImageError.self) {
                try ImageAnimation(spriteSheet: pixels, columns: columns, rows: rows, spacing: spacing)
            }
        }
        for count in [0, 5, -1] {
            #expect(throws: ImageError.self) {
                try ImageAnimation(spriteSheet: pixels, columns: 2, rows: 2, frameCount: count)
            }
        }
        let inside = PixelRect(x: 0, y: 0, width: 5, height: 5)
        let outside = PixelRect(x: 6, y: 6, width: 5, height: 5)
        let far = PixelRect(x: Int.max, y: 0, width: 5, height: 5)
        for regions in [[], [inside, outside], [far], [inside, PixelRect(x: 0, y: 0, width: 4, height: 5)]] {
            #expect(throws: ImageError.self) { try ImageAnimation(spriteSheet: pixels, regions: regions) }
        }
    }

    @Test("Selected frames keep their order and their durations")
    func chosen() throws {
        let animation = try ImageAnimation(
            frames: timed((0..<4).map { (try plain(UInt8($0)), 20 + $0 * 10) }), loopCount: 2)
        let image = try DecodedImage(animation: animation)
        let back = try image.selecting(.indices([3, 1, 1]))
        #expect(back.animation?.frameDurations == milliseconds([50, 30, 30]) && back.animation?.loopCount == 2)
        #expect(back.pixels.packedBytes()[0] == 3)
        #expect(try back.animation?.frame(at: 2).packedBytes()[0] == 1)
        #expect(try image.selecting(.indices([2])).frameCount == 1)
        #expect(try image.selecting(.range(0..<4)) === image)
        #expect(try !image.selecting(.first).isAnimated)
        #expect(throws: ImageError.request(.frameNotFound(index: 4, frameCount: 4))) {
            try image.selecting(.indices([0, 4]))
        }
        #expect(throws: ImageError.self) { try image.selecting(.indices([])) }
        #expect(throws: ImageError.self) { try image.selecting(.range(2..<Int.max)) }
        #expect(throws: ImageError.self) { try image.selecting(.range(2..<2)) }
    }
}

/// A coder for a test format: four bytes of signature, and then one value for all pixels.
private struct RawCoder: ImageCoder {
    static func file(value: UInt8) -> Data { Data([0x80, 0x81, 0x82, 0x83, value]) }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { true }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        let canvas = try PixelCanvas(size: PixelSize(width: 2, height: 2))
        canvas.withUnsafeMutableBytes { bytes in
            for place in bytes.indices { bytes[place] = data.last ?? 0 }
        }
        return DecodedImage(pixels: canvas.finish(isOpaque: false))
    }
}
