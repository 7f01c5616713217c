// SPDX-License-Identifier: MIT

import Synchronization
import Testing
import WebImageCore

/// An animation decoder that counts the requested frames.
private final class CountingDecoder: AnimationDecoder {
    let timeline = AnimationTimeline(loopCount: 0, durations: [100, 100, 100])
    let cost = 0
    let frames: [PixelBuffer]
    let requestCount = Atomic(0)

    init() throws {
        frames = try (0..<3).map { try PixelMaking.noise(23, 17, opaque: false, seed: UInt64($0 + 1)) }
    }

    func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        requestCount.add(1, ordering: .relaxed)
        return frames[index]
    }
}

@Suite("Transformed animations")
struct AnimationTransformTests {
    @Test("Frames are transformed on demand, with the same result as still images", arguments: Samples.all)
    func lazy(_ sample: Samples.Named) throws {
        let decoder = try CountingDecoder()
        let image = DecodedImage(pixels: decoder.frames[0], animation: ImageAnimation(decoder))
        let calls = Box()
        let counted = ClosureTransformer(id: "counted") { pixels, context in
            calls.count.add(1, ordering: .relaxed)
            return try sample.transformer.transform(pixels, context: context)
        }
        let result = try counted.apply(to: image, context: ImageProcessingContext())
        #expect(decoder.requestCount.load(ordering: .relaxed) == 0)
        // Only the poster frame is transformed.
        #expect(calls.count.load(ordering: .relaxed) == 1)
        for index in [2, 0, 1] {
            let still = try sample.transformer.apply(to: DecodedImage(pixels: decoder.frames[index]), context: .init())
            let frame = try #require(try result.animation?.frame(at: index))
            #expect(frame.packedBytes() == still.pixels.packedBytes())
            #expect(frame.isOpaque == still.isOpaque)
        }
        #expect(calls.count.load(ordering: .relaxed) == 4)
        #expect(decoder.requestCount.load(ordering: .relaxed) == 3)
    }

    @Test("Frames are available after the request that created them was canceled")
    func ownClock() throws {
        let flag = CancellationFlag()
        let decoder = try CountingDecoder()
        let context = ImageProcessingContext(isCancelled: { flag.isCancelled })
        let image = try FlipTransformer(.horizontal).apply(
            to: DecodedImage(pixels: decoder.frames[0], animation: ImageAnimation(decoder)), context: context)
        flag.cancel()
        #expect(throws: ImageError.cancelled) { try context.checkCancellation() }
        #expect(try image.animation?.frame(at: 1).size == PixelSize(width: 23, height: 17))
    }

    private final class Box: Sendable {
        let count = Atomic(0)
    }
}
