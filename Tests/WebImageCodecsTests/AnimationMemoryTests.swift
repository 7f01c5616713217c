// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageCodecs
import WebImageConcurrency
import WebImageCore

@Suite("Memory use of animations")
struct AnimationMemoryTests {
    /// A counter that holds only weak references to the frames that it passed on and counts those that still exist.
    private final class Counter: Sendable {
        private struct Weak { weak var pixels: PixelBuffer? }
        private let returnedCount = Lock<[Weak]>([])
        private let most = Lock(0)

        func makeFrame(_ pixels: PixelBuffer) -> PixelBuffer {
            let alive = returnedCount.withLock { given in
                given.removeAll { $0.pixels == nil }
                given.append(Weak(pixels: pixels))
                return given.count
            }
            most.withLock { $0 = max($0, alive) }
            return pixels
        }

        var maximum: Int { most.withLock { $0 } }
    }

    static let encodings: [ImageEncoding] =
        [.gif, .apng, .webp.lossless]
        + [ImageFormat.avif, .jxl].filter(ImageCoderRegistry.standard.canEncode).map {
            ImageEncoding(format: $0, effort: 1)
        }

    /// The durations of sixty frames.
    static let durations = Array(repeating: Duration.milliseconds(40), count: 60)

    /// Returns a frame with a bar that moves over a plain background.
    static func frame(_ place: Int, _ size: PixelSize) throws(ImageError) -> PixelBuffer {
        let canvas = try PixelCanvas(size: size)
        canvas.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            // In debug builds, `initializeMemory(as:repeating:)` calls a function for each byte.
            memset(start, 255, bytes.count)
            for row in place..<place + 8 { memset(start + row * canvas.bytesPerRow, 0, size.width * 4) }
        }
        return canvas.finish(isOpaque: false)
    }

    @Test("Encoders retain at most two of sixty frames", arguments: encodings)
    func encoders(_ encoding: ImageEncoding) throws {
        let counter = Counter()
        let size = PixelSize(width: 96, height: 72)
        let animation = try ImageAnimation(frameDurations: Self.durations, size: size) {
            (place) throws(ImageError) in counter.makeFrame(try Self.frame(place, size))
        }
        let poster = try Self.frame(0, size)
        let image = DecodedImage(pixels: poster, animation: animation)
        let data = try coder(for: encoding.formatOrAutomatic).encode(
            image, as: encoding, context: ImageProcessingContext())
        let back = try coder(for: encoding.formatOrAutomatic).decode(
            data, info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext())
        #expect(back.frameCount == 60)
        #expect(counter.maximum <= 2)
    }

    @Test("After sixty frames were decoded, the cost of an animation is at most two canvases and the file")
    func cost() throws {
        let size = PixelSize(width: 400, height: 300)
        let canvas = size.width * size.height * 4
        let animation = try ImageAnimation(frameDurations: Self.durations, size: size) {
            (place) throws(ImageError) in try Self.frame(place, size)
        }
        for encoding in Self.encodings.prefix(3) {
            let data = try coder(for: encoding.formatOrAutomatic).encode(
                DecodedImage(animation: animation), as: encoding, context: ImageProcessingContext())
            let back = try coder(for: encoding.formatOrAutomatic).decode(
                data, info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext())
            let held = try #require(back.animation)
            for place in 0..<60 { _ = try held.frame(at: place) }
            #expect(held.cost <= 2 * canvas + data.count + 16_384, "\(encoding.formatOrAutomatic): \(held.cost)")
        }
    }

    #if ADDRESS_SANITIZER
        private static let countsOwnMemory = false
    #else
        private static let countsOwnMemory = true
    #endif

    /// Runs in a separate process because it measures the memory of the whole process.
    @Test(
        "Playing all frames needs only the memory of the poster frame, two canvases, and the current frame",
        .enabled(if: countsOwnMemory, "the address sanitizer retains freed memory"))
    func resident() async {
        await #expect(processExitsWith: .success) {
            // Use no limits, so that a slow machine doesn't exceed the timeout.
            let context = ImageProcessingContext(limits: .unlimited)
            let size = PixelSize(width: 1_200, height: 900)
            let canvas = size.width * size.height * 4
            // Twenty frames need four times the memory that the test permits.
            let durations =
                LongTests.areEnabled
                ? AnimationMemoryTests.durations : Array(AnimationMemoryTests.durations.prefix(20))
            let animation = try ImageAnimation(frameDurations: durations, size: size) {
                (place) throws(ImageError) in try AnimationMemoryTests.frame(place, size)
            }
            for encoding in AnimationMemoryTests.encodings.prefix(3) {
                let data = try coder(for: encoding.formatOrAutomatic).encode(
                    DecodedImage(animation: animation), as: encoding, context: context)
                PixelPool.shared.trim()
                let used = PixelPool.shared.bytesInUse
                let before = try AnimationMemoryTests.resident(resetting: true)
                let back = try coder(for: encoding.formatOrAutomatic).decode(
                    data, info: nil, options: ImageDecodingOptions(), context: context)
                var most = 0
                for place in durations.indices {
                    guard let frame = try back.animation?.frame(at: place) else { exit(2) }
                    most = max(most, PixelPool.shared.bytesInUse - used)
                    _ = frame.isOpaque
                }
                let grown = try AnimationMemoryTests.resident(resetting: false) - before
                // The pool holds the poster frame, the current frame, and at most two canvases, in its block sizes.
                // The resident memory also includes the memory of the codecs.
                guard most <= canvas * 5, grown <= canvas * 5 else { exit(3) }
            }
            exit(0)
        }
    }

    /// Returns the peak resident memory in bytes since the last reset.
    static func resident(resetting: Bool) throws -> Int {
        if resetting { try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs")) }
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) << 10
    }
}
