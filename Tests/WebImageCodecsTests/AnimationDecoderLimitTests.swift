// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageTestBasics

@testable import WebImageCodecs
@testable import WebImageCore

@Suite("The number of animations whose decoders are open", .timeLimit(.minutes(5)))
struct AnimationDecoderLimitTests {
    /// The time of a table and a count of the open decoders.
    private final class World: Sendable {
        private let counts = Lock<(open: Int, opened: Int)>((0, 0))
        let table: AnimationDecoderTable
        /// Adds seconds to the time.
        let advance: @Sendable (Double) -> Void

        init() {
            let seconds = Lock(100.0)
            let time = TimeSource(now: { Date() }, uptime: { seconds.withLock { $0 } })
            table = AnimationDecoderTable(time: time)
            advance = { step in seconds.withLock { $0 += step } }
        }

        var open: Int { counts.withLock { $0.open } }
        var opened: Int { counts.withLock { $0.opened } }
        func didOpen() { counts.withLock { $0 = ($0.open + 1, $0.opened + 1) } }
        func didClose() { counts.withLock { $0.open -= 1 } }
    }

    private struct Source: LibraryFrameSource, ~Copyable {
        private let world: World

        init(_ world: World) {
            self.world = world
            world.didOpen()
        }

        deinit { world.didClose() }

        mutating func decode(frame: Int, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
            let canvas = try PixelCanvas(size: PixelSize(width: 1, height: 1))
            canvas.withUnsafeMutableBytes { $0.storeBytes(of: SIMD4(UInt8(frame), 0, 0, 255), as: SIMD4<UInt8>.self) }
            return canvas.finish(isOpaque: true)
        }
    }

    private static func limits(_ count: Int, maxDecodedBytes: Int = .max) -> ImageLimits {
        var limits = ImageLimits.desktop
        limits.maxAnimationDecoders = count
        limits.maxDecodedBytes = maxDecodedBytes
        return limits
    }

    private func animation(_ world: World, _ limits: ImageLimits, cost: Int = 10) throws -> LibraryFrameDecoder<Source>
    {
        LibraryFrameDecoder(
            Source(world), timeline: AnimationTimeline(loopCount: 0, durations: Array(repeating: 100, count: 200)),
            layout: try DecodeLayout(
                rawSize: PixelSize(width: 1, height: 1), options: ImageDecodingOptions(),
                context: ImageProcessingContext()),
            limits: limits, cost: cost, table: world.table
        ) { () throws(ImageError) in Source(world) }
    }

    private func failure(_ body: () throws(ImageError) -> PixelBuffer) -> ImageError.LimitFailure? {
        do throws(ImageError) {
            _ = try body()
            return nil
        } catch {
            guard case .limitExceeded(let failure) = error else { return nil }
            return failure
        }
    }

    @Test("If all decoders are in use, a further animation shows one frame, and other frames throw the limit")
    func limit() throws {
        let world = World()
        let limits = Self.limits(2)
        let playing = try [animation(world, limits), animation(world, limits)]
        for frame in 0..<3 { for each in playing { _ = try each.frame(at: frame) } }
        let third = try animation(world, limits)
        #expect(world.open == 2 && world.table.count == 2)
        #expect(try third.frame(at: 0).packedBytes() == [0, 0, 0, 255])
        #expect(world.open == 2)
        let error = try #require(failure { () throws(ImageError) in try third.frame(at: 1) })
        #expect(error.kind == .animationDecoderCount && error.limit == 2 && error.actual == 3)
        #expect(error.code == 6015 && error.message.contains("3 decoders") && error.message.contains("limit is 2"))
        // The animations that play continue.
        for each in playing { #expect(try each.frame(at: 7).packedBytes() == [7, 0, 0, 255]) }
        #expect(world.open == 2)
    }

    @Test("After two seconds without a frame, another animation takes the place of the one that paused first")
    func reclaimed() throws {
        let world = World()
        let limits = Self.limits(2)
        let (first, second) = try (animation(world, limits), animation(world, limits))
        _ = try first.frame(at: 1)
        world.advance(1)
        _ = try second.frame(at: 1)
        world.advance(1)
        let third = try animation(world, limits)
        #expect(try third.frame(at: 1).packedBytes() == [1, 0, 0, 255])
        #expect(try third.frame(at: 2).packedBytes() == [2, 0, 0, 255])
        #expect(world.open == 2 && world.opened == 3, "the decoder of the first animation was closed")
        #expect(failure { () throws(ImageError) in try first.frame(at: 2) }?.kind == .animationDecoderCount)
        world.advance(2)
        #expect(try first.frame(at: 2).packedBytes() == [2, 0, 0, 255])
        #expect(world.open == 2 && world.opened == 4)
    }

    @Test("Animations that are deallocated release their places")
    func released() throws {
        let world = World()
        let limits = Self.limits(1)
        for _ in 0..<3 {
            let only = try animation(world, limits)
            for frame in 0..<3 { _ = try only.frame(at: frame) }
            #expect(world.table.count == 1)
        }
        #expect(world.table.count == 0 && world.open == 0)
    }

    @Test("The memory of all decoders has a limit of four times the limit of one image")
    func memory() throws {
        let world = World()
        let limits = Self.limits(100, maxDecodedBytes: 1_000)
        let playing = try [animation(world, limits, cost: 1_500), animation(world, limits, cost: 1_500)]
        for each in playing { _ = try each.frame(at: 1) }
        let third = try animation(world, limits, cost: 1_500)
        _ = try third.frame(at: 0)
        let error = try #require(failure { () throws(ImageError) in try third.frame(at: 1) })
        #expect(error.kind == .decodedSize && error.limit == 4_000 && error.actual == 4_500)
        let small = try animation(world, limits, cost: 900)
        for frame in 0..<3 { _ = try small.frame(at: frame) }
        #expect(world.open == 3)
    }

    @Test(
        "Without any decoder, files of all formats have a poster frame",
        arguments: [ImageEncoding.gif, .apng, .webp.lossless]
            + [ImageFormat.avif, .jxl].filter(ImageCoderRegistry.standard.canEncode).map {
                ImageEncoding(format: $0, effort: 1)
            })
    func formats(_ encoding: ImageEncoding) throws {
        let size = PixelSize(width: 40, height: 40)
        let source = try ImageAnimation(frameDurations: Array(repeating: .milliseconds(40), count: 4), size: size) {
            (place) throws(ImageError) in try AnimationMemoryTests.frame(place * 5, size)
        }
        let poster = try AnimationMemoryTests.frame(0, size)
        let data = try coder(for: encoding.formatOrAutomatic).encode(
            DecodedImage(pixels: poster, animation: source), as: encoding, context: ImageProcessingContext())
        let context = ImageProcessingContext(limits: Self.limits(0))
        let image = try coder(for: encoding.formatOrAutomatic).decode(
            data, info: nil, options: ImageDecodingOptions(), context: context)
        let animation = try #require(image.animation)
        #expect(image.size == size && animation.frameCount == 4)
        _ = try? animation.frame(at: 0)
        let error = try #require(failure { () throws(ImageError) in try animation.frame(at: 2) })
        #expect(error.kind == .animationDecoderCount && error.limit == 0 && error.actual > 0)
    }

    @Test("Threads that compete for places receive correct frames or the limit error")
    func threads() async throws {
        let world = World()
        let limits = Self.limits(3)
        var animations: [LibraryFrameDecoder<Source>] = []
        for _ in 0..<8 { animations.append(try animation(world, limits)) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for start in 0..<8 {
                group.addTask { [animations] in
                    var random = SeededGenerator(UInt64(start))
                    var count = 0
                    for _ in 0..<400 {
                        let frame = Int.random(in: 0..<200, using: &random)
                        world.advance(0.25)
                        do {
                            let bytes = try animations[Int.random(in: 0..<8, using: &random)].frame(at: frame)
                                .packedBytes()
                            #expect(bytes == [UInt8(frame), 0, 0, 255])
                            count += 1
                        } catch {
                            guard case .limitExceeded(let failure)? = error as? ImageError else { throw error }
                            #expect(failure.kind == .animationDecoderCount && failure.limit == 3)
                        }
                    }
                    return count
                }
            }
            var total = 0
            for try await count in group { total += count }
            #expect(total > 400)
        }
        #expect(world.table.count <= 3 && world.open <= 3)
        animations = []
        #expect(world.table.count == 0 && world.open == 0)
    }
}
