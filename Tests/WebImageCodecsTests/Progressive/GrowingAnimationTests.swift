// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageCore

@testable import WebImageCodecs

/// An animated file that is passed incrementally to a decoder whose previews have all received frames.
private struct Growing {
    let decoder: any ProgressiveImageDecoder
    private let data: Data
    private let limits: ImageLimits
    private(set) var appendedCount = 0

    init(_ data: Data, options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits = .desktop)
        throws(ImageError)
    {
        let start = try ImageCoderRegistry.standard.progressiveStart(
            data, encodedBytes: data.count, options: options, growsAnimations: true,
            context: ImageProcessingContext(limits: limits))
        guard case .decoder(let decoder, _) = start else {
            throw .decoding(.corrupted(format: .gif, reason: "there's no decoder"))
        }
        self.decoder = decoder
        self.data = data
        self.limits = limits
    }

    var isFinished: Bool { appendedCount == data.count }

    mutating func append(_ count: Int) throws(ImageError) {
        let part = data.dropFirst(appendedCount).prefix(count)
        appendedCount += part.count
        try decoder.append(part, isLast: isFinished, context: ImageProcessingContext(limits: limits))
    }

    func preview() throws(ImageError) -> ImagePreview? {
        try decoder.makePreview(context: ImageProcessingContext(limits: limits))
    }
}

private let animations = Fixture.animations.filter { [.gif, .apng, .webp].contains($0.format) }

@Suite("Animations that are being received")
struct GrowingAnimationTests {
    /// Returns an animation of frames with noise, whose data has about the same size.
    private static func noise(_ format: ImageFormat, frames: Int = 8, dimension: Int = 24) throws -> Data {
        var generator = SeededGenerator(UInt64(frames))
        let pictures = try (0..<frames).map { _ in
            try PixelPatterns.make(width: dimension, height: dimension, isOpaque: true) { _, _ in
                SIMD4(.random(in: 0...255, using: &generator), .random(in: 0...255, using: &generator), 0, 255)
            }
        }
        let image = try DecodedImage(
            animation: ImageAnimation(frames: pictures.map { (pixels: $0, duration: Duration.milliseconds(40)) }))
        return try coder(for: format).encode(
            image, as: ImageEncoding(format: format, isLossless: format == .webp),
            context: ImageProcessingContext())
    }

    private static func frames(_ image: DecodedImage) throws -> [[UInt8]] {
        guard let animation = image.animation else { return [image.pixels.packedBytes()] }
        return try (0..<image.frameCount).map { try animation.frame(at: $0).packedBytes() }
    }

    /// Checks that an animation has the first frames of the whole file.
    private static func expectBeginning(_ image: DecodedImage, of whole: DecodedImage, _ frames: [[UInt8]]) throws {
        let count = image.frameCount
        #expect(areEqual(image.pixels.packedBytes(), frames[0]))
        guard let animation = image.animation, let complete = whole.animation else { return }
        #expect(count > 1 && animation.timeline.durations == Array(complete.timeline.durations.prefix(count)))
        for place in [count - 1, 0, count / 2] {
            #expect(areEqual(try animation.frame(at: place).packedBytes(), frames[place]))
        }
    }

    @Test("Any split of the data results in the frames of the whole file", arguments: animations)
    func splits(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let whole = try fixture.decode()
        let frames = try Self.frames(whole)
        for cut in cuts(of: data, everywhereBelow: 300, random: 24) {
            var growing = try Growing(data)
            try growing.append(cut)
            if let preview = try growing.preview(), preview.image.isAnimated {
                #expect(!preview.isComplete)
                try Self.expectBeginning(preview.image, of: whole, frames)
            }
            try growing.append(.max)
            let last = try #require(try growing.preview())
            #expect(last.isComplete && !last.image.metadata.isPartial && last.image.frameCount == whole.frameCount)
            #expect(last.image.animation?.isComplete == true)
            #expect(last.image.animation?.timeline == whole.animation?.timeline)
            #expect(last.image.metadata == whole.metadata)
        }
        var generator = SeededGenerator(UInt64(data.count))
        for largest in [1, 7, 64, 1_000] where data.count / largest < 20_000 {
            var growing = try Growing(data)
            var last: ImagePreview?
            while !growing.isFinished {
                try growing.append(.random(in: 1...largest, using: &generator))
                if let preview = try growing.preview() { last = preview }
            }
            let found = try Self.frames(#require(last).image)
            #expect(areEqual(found, frames))
        }
    }

    @Test("The requested size and the frames of reduced animations are those of the whole file", arguments: animations)
    func reduced(_ fixture: Fixture) throws {
        let options = ImageDecodingOptions(size: .fit(width: 9))
        let whole = try ImageCoderRegistry.standard.decode(
            fixture.data(), options: options, context: ImageProcessingContext())
        var growing = try Growing(try fixture.data(), options: options)
        try growing.append(.max)
        let image = try #require(try growing.preview()).image
        #expect(image.size == whole.size)
        #expect(areEqual(try Self.frames(image), try Self.frames(whole)))
    }

    @Test(
        "Each frame appears as soon as it's complete, and earlier previews keep their frames",
        arguments: [ImageFormat.gif, .apng, .webp])
    func appears(_ format: ImageFormat) throws {
        let data = try Self.noise(format)
        let whole = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
        let frames = try Self.frames(whole)
        var growing = try Growing(data)
        var previews: [DecodedImage] = []
        while !growing.isFinished {
            try growing.append(16)
            guard let image = try growing.preview()?.image, image.isAnimated else { continue }
            if image.frameCount == previews.last?.frameCount {
                // Only the end of the file changes an animation without a new frame.
                #expect(image.animation?.isComplete != previews.last?.animation?.isComplete || growing.isFinished)
            }
            // The file consists of frames of about the same size.
            #expect(image.frameCount >= growing.appendedCount * 8 / data.count - 1)
            previews.append(image)
        }
        #expect(Set(previews.map(\.frameCount)) == Set(2...8))
        for image in previews.reversed() { try Self.expectBeginning(image, of: whole, frames) }
        let early = try #require(previews.first?.animation)
        #expect(!early.isComplete)
        #expect(throws: ImageError.request(.frameNotFound(index: 2, frameCount: 2))) { try early.frame(at: 2) }
    }

    @Test("Frames are decoded on other threads while data arrives", arguments: [ImageFormat.gif, .apng, .webp])
    func threads(_ format: ImageFormat) async throws {
        let data = try Self.noise(format, frames: 20)
        let frames = try Self.frames(
            ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext()))
        var growing = try Growing(data)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            while !growing.isFinished {
                try growing.append(data.count / 30)
                guard let animation = try growing.preview()?.image.animation else { continue }
                group.addTask {
                    try (0..<animation.frameCount).allSatisfy {
                        areEqual(try animation.frame(at: $0).packedBytes(), frames[$0])
                    }
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }

    @Test("Too many frames and too much data are rejected while they arrive", arguments: animations)
    func limits(_ fixture: Fixture) throws {
        let data = try fixture.data()
        var few = ImageLimits.desktop
        few.maxFrames = max(2, fixture.frames - 1)
        if fixture.frames > 2 {
            #expect(
                throws: ImageError.limitExceeded(
                    ImageError.LimitFailure(.frameCount, limit: few.maxFrames, actual: fixture.frames))
            ) {
                // The header doesn't have to contain the number of frames, so the decoder counts them.
                let start = try ImageCoderRegistry.standard.progressiveStart(
                    data, growsAnimations: true, context: ImageProcessingContext(limits: few))
                guard case .decoder(let decoder, _) = start else { return }
                try decoder.append(data, isLast: true, context: ImageProcessingContext(limits: few))
            }
        }
        var single = ImageLimits.desktop
        single.maxFrames = 1
        if case .decoder(let decoder, _) = try ImageCoderRegistry.standard.progressiveStart(
            data, growsAnimations: true, context: ImageProcessingContext(limits: single))
        {
            try decoder.append(data, isLast: true, context: ImageProcessingContext(limits: single))
            #expect(try decoder.makePreview(context: ImageProcessingContext())?.image.isAnimated == false)
        }
        var short = ImageLimits.desktop
        short.maxEncodedBytes = data.count - 1
        let start = try ImageCoderRegistry.standard.progressiveStart(
            data.prefix(data.count - 1), growsAnimations: true, context: ImageProcessingContext(limits: short))
        guard case .decoder(let decoder, _) = start else { return }
        #expect {
            try decoder.append(data, isLast: true, context: ImageProcessingContext(limits: short))
        } throws: {
            (6000..<7000).contains(($0 as? ImageError)?.code ?? 0)
        }
    }

    @Test("The end of truncated data has the same result as for the whole file", arguments: animations)
    func truncated(_ fixture: Fixture) throws {
        let data = try fixture.data()
        for cut in cuts(of: data, everywhereBelow: 0, random: 24) {
            let part = Data(data.prefix(cut))
            let expected = Result { try ImageCoderRegistry.standard.decode(part, context: ImageProcessingContext()) }
            let result = Result { () throws -> DecodedImage? in
                var growing = try Growing(part)
                try growing.append(.max)
                return try growing.preview()?.image
            }
            switch (expected, result) {
            case (.success(let whole), .success(let image)):
                let found = try Self.frames(#require(image))
                #expect(areEqual(found, try Self.frames(whole)), "\(cut) bytes")
            case (.failure, .failure): break
            default: Issue.record("\(cut) bytes: \(expected) and \(result)")
            }
        }
    }

    @Test("Corrupt data in chunks of any size never crashes", arguments: animations)
    func corrupt(_ fixture: Fixture) throws {
        let data = try fixture.data()
        var generator = SeededGenerator(UInt64(data.count) &* 41)
        for round in 0..<40 {
            var broken = data
            switch round % 4 {
            case 0, 1:
                let end = round % 2 == 0 ? broken.count : min(broken.count, 128)
                for _ in 0...round % 5 {
                    broken[Int.random(in: 0..<end, using: &generator)] ^=
                        1 << UInt8.random(in: 0..<8, using: &generator)
                }
            case 2:
                let cut = Int.random(in: 0..<data.count, using: &generator)
                broken = Data(data.prefix(cut)) + data.dropFirst(cut + Int.random(in: 1...40, using: &generator))
            default:
                let cut = Int.random(in: 0..<data.count, using: &generator)
                broken = Data(data.prefix(cut))
                broken += Data((0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) })
                broken += data.dropFirst(cut)
            }
            do throws(ImageError) {
                var growing = try Growing(broken, limits: .icon)
                var count = 0
                while !growing.isFinished {
                    try growing.append(.random(in: 1...max(1, data.count / 4), using: &generator))
                    guard let image = try growing.preview()?.image else { continue }
                    #expect(image.frameCount >= count && image.frameCount <= ImageLimits.icon.maxFrames)
                    count = image.frameCount
                    // A frame with corrupt pixels throws an error each time, and the others stay available.
                    for place in 0..<count { _ = try? image.animation?.frame(at: place) }
                }
            } catch {
                #expect((4000..<5000).contains(error.code) || (6000..<7000).contains(error.code), "\(error)")
            }
        }
    }

    @Test("A GIF file with an endless extension in tiny chunks is scanned once and needs few chunks of memory")
    func endless() throws {
        var bytes: [UInt8] = Array("GIF89a".utf8) + [2, 0, 2, 0, 0, 0, 0, 0x21, 0xFE]
        for _ in 0..<400 { bytes += [255] + [UInt8](repeating: 1, count: 255) }
        var scanner = GIFScanner()
        var data = ReceivedData()
        for byte in bytes {
            data.append(Data([byte]))
            try scanner.scan(data)
        }
        #expect(scanner.frameCount == 0 && !scanner.isAtEnd)
        #expect(data.count == bytes.count && data.chunkCount <= bytes.count / ReceivedData.maxMergedBytes + 1)
    }

    @Test("Received data returns each range of its chunks, and nothing past its end")
    func ranges() throws {
        var generator = SeededGenerator(5)
        let bytes = (0..<30_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var data = ReceivedData()
        #expect(data.byte(at: 0) == nil && data.bytes(0..<1) == nil && data.bytes(0..<0) == Data())
        while data.count < bytes.count {
            let count = [0, 1, 50, 3_000, 9_000].randomElement(using: &generator) ?? 0
            // Chunks can be slices whose indices don't begin at 0.
            data.append(Data(bytes)[data.count..<min(bytes.count, data.count + count)])
        }
        for _ in 0..<500 {
            let first = Int.random(in: 0..<bytes.count, using: &generator)
            let last = Int.random(in: first...bytes.count, using: &generator)
            #expect(data.bytes(first..<last).map(Array.init) == Array(bytes[first..<last]))
            #expect(data.byte(at: first) == bytes[first])
        }
        #expect(data.bytes(bytes.count - 1..<bytes.count + 1) == nil && data.byte(at: bytes.count) == nil)
    }
}
