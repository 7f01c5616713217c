// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageTestBasics

@testable import WebImageCodecs
@testable import WebImageCore

@Suite("Frames on several threads", .timeLimit(.minutes(5)))
struct DecoderPoolTests {
    /// A log of the decoders that all threads open and close.
    private final class Log: Sendable {
        private let state = Lock<(open: Int, mostOpen: Int, made: Int)>((0, 0, 0))
        let meeting = DispatchSemaphore(value: 0)
        let isMet = DispatchSemaphore(value: 0)

        var mostOpen: Int { state.withLock { $0.mostOpen } }
        var open: Int { state.withLock { $0.open } }
        func opened() {
            state.withLock { state in
                state.open += 1
                state.mostOpen = max(state.mostOpen, state.open)
            }
        }
        func closed() { state.withLock { $0.open -= 1 } }
    }

    /// A frame source in which decoding frame 1 finishes only after another thread has decoded frame 2.
    private struct MeetingSource: LibraryFrameSource, ~Copyable {
        let log: Log

        init(_ log: Log) {
            self.log = log
            log.opened()
        }

        deinit { log.closed() }

        mutating func decode(frame: Int, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
            switch frame {
            case 1:
                log.isMet.signal()
                log.meeting.wait()
            case 2: log.meeting.signal()
            case 3: throw .decoding(.corrupted(format: .avif, reason: "for the test"))
            default: break
            }
            return try PixelCanvas(size: PixelSize(width: 1, height: 1)).finish(isOpaque: true)
        }
    }

    private func decoder(_ log: Log) throws -> LibraryFrameDecoder<MeetingSource> {
        LibraryFrameDecoder(
            MeetingSource(log), timeline: AnimationTimeline(loopCount: 0, durations: [100, 100, 100, 100]),
            layout: try DecodeLayout(
                rawSize: PixelSize(width: 1, height: 1), options: ImageDecodingOptions(),
                context: ImageProcessingContext()),
            limits: .desktop, cost: 0
        ) { () throws(ImageError) in MeetingSource(log) }
    }

    @Test("A thread can decode a frame while another thread decodes one")
    func concurrent() async throws {
        let log = Log()
        let decoder = try decoder(log)
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            _ = try? decoder.frame(at: 1)
            ended.signal()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                log.isMet.wait()
                _ = try? decoder.frame(at: 2)
                ended.wait()
                continuation.resume()
            }
        }
        #expect(log.mostOpen == 2)
    }

    @Test("One thread uses one decoder, also after a failure, and the animation closes all decoders")
    func sequential() throws {
        let log = Log()
        var decoder: LibraryFrameDecoder<MeetingSource>? = try decoder(log)
        for place in [0, 2, 0] { _ = try decoder?.frame(at: place) }
        #expect(throws: ImageError.self) { try decoder?.frame(at: 3) }
        _ = try decoder?.frame(at: 0)
        #expect(log.mostOpen == 1)
        decoder = nil
        #expect(log.open == 0)
    }

    @Test("Many threads receive the correct frames of an animation", arguments: ["gif", "apng", "webp"])
    func frames(name: String) async throws {
        let pixels = try (0..<6).map { index in
            try PixelPatterns.make(width: 24, height: 16, isOpaque: true) { x, _ in
                x / 4 == index ? SIMD4(200, 30, 60, 255) : SIMD4(40, UInt8(index * 40), 90, 255)
            }
        }
        let source = try ImageAnimation(frames: pixels.map { (pixels: $0, duration: Duration.milliseconds(100)) })
        let format: ImageEncoding =
            name == "gif" ? .gif : name == "apng" ? .apng : .webp.lossless
        let registry = ImageCoderRegistry.standard
        let data = try registry.encode(DecodedImage(animation: source), as: format, context: ImageProcessingContext())
        let animation = try #require(try registry.decode(data, context: ImageProcessingContext()).animation)
        let expected = try (0..<6).map { try animation.frame(at: $0).packedBytes() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for start in 0..<8 {
                group.addTask {
                    for step in 0..<24 {
                        let place = start % 2 == 0 ? (start + step) % 6 : (start * 7 + step * 5) % 6
                        let bytes = try animation.frame(at: place).packedBytes()
                        #expect(bytes == expected[place])
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
