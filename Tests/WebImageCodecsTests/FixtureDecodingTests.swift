// SPDX-License-Identifier: MIT

import Testing
import WebImageCodecs
import WebImageCore

@Suite("Decoding the fixtures")
struct FixtureDecodingTests {
    @Test("The manifest lists fixtures of every format")
    func manifestIsThere() {
        let formats = Set(Fixture.all.map(\.format))
        #expect(formats == [.jpeg, .png, .apng, .gif, .webp, .bmp, .qoi, .pbm, .pgm, .ppm, .pam])
        #expect(Fixture.all.count > 150)
    }

    @Test("Every image matches its reference", arguments: Fixture.all)
    func matchesReference(_ fixture: Fixture) throws {
        let image = try fixture.decode()
        #expect(image.size == fixture.size)
        let expected = try fixture.expectedFrames()
        let pixels = image.pixels.packedBytes()
        if fixture.tolerance == 0 {
            #expect(areEqual(pixels, expected[0]))
        } else {
            #expect(difference(pixels, expected[0]) <= fixture.tolerance)
        }
        #expect(image.isOpaque == !expected[0].enumerated().contains { $0.offset % 4 == 3 && $0.element < 255 })
        #expect(!image.metadata.isPartial)
        if let hasAlpha = fixture.hasAlpha { #expect(image.metadata.hasAlpha == hasAlpha) }
        if let depth = fixture.depth { #expect(image.metadata.bitDepth == depth) }
    }

    @Test("Frames match their references in any order", arguments: Fixture.animations)
    func framesMatchReferences(_ fixture: Fixture) throws {
        let image = try fixture.decode()
        let animation = try #require(image.animation)
        #expect(image.frameCount == fixture.frames)
        #expect(animation.timeline.loopCount == fixture.loop)
        let expected = try fixture.expectedFrames()
        let forward = Array(0..<fixture.frames)
        var generator = SeededGenerator(5)
        for order in [forward, forward.reversed(), (forward + forward).shuffled(using: &generator)] {
            for place in order {
                let frame = try animation.frame(at: place)
                #expect(areEqual(frame.packedBytes(), expected[place]), "frame \(place)")
            }
        }
        for place in forward {
            let alone = try fixture.decode(ImageDecodingOptions(frames: .index(place)))
            #expect(areEqual(alone.pixels.packedBytes(), expected[place]))
            #expect(!alone.isAnimated)
        }
    }

    @Test("The first frame alone is a still image", arguments: Fixture.animations)
    func firstFrameIsStill(_ fixture: Fixture) throws {
        let image = try fixture.decode(ImageDecodingOptions(frames: .first))
        #expect(!image.isAnimated)
        #expect(image.pixels.packedBytes() == (try fixture.expectedFrames()[0]))
    }

    @Test("A frame that doesn't exist throws an error", arguments: ["444.jpg", "rgb8.png", "mixed.gif", "rgb24.bmp"])
    func missingFrame(_ file: String) throws {
        let fixture = try Fixture.named(file)
        #expect(throws: ImageError.request(.frameNotFound(index: 9, frameCount: fixture.frames))) {
            try fixture.decode(ImageDecodingOptions(frames: .index(9)))
        }
    }

    @Test("N-22: The orientation is applied once", arguments: ImageOrientation.allCases)
    func orientations(_ orientation: ImageOrientation) throws {
        let fixture = try Fixture.named("orientation-\(orientation.rawValue).jpg")
        let image = try fixture.decode()
        #expect(image.size == fixture.size)
        #expect(image.metadata.orientation == orientation)
        #expect(image.metadata.storedSize == (orientation.swapsDimensions ? fixture.size.transposed : fixture.size))
        let stored = try JPEGCoder().decode(
            fixture.data(), info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext())
        #expect(stored.size == image.metadata.storedSize)
    }

    @Test("A probe that contradicts the file throws an error")
    func contradiction() throws {
        let fixture = try Fixture.named("rgb8.png")
        let probe = ImageInfo(format: .png, storedSize: PixelSize(width: 3, height: 3))
        #expect {
            try PNGCoder().decode(
                fixture.data(), info: probe, options: ImageDecodingOptions(), context: ImageProcessingContext())
        } throws: { ($0 as? ImageError)?.code == 4009 }
    }
}
