// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

/// Tests of icons and the enabled optional formats. They use the registry, so the probe and the coder must agree.
@Suite("Optional formats and icons")
struct OptionalFormatTests {
    private func decode(
        _ fixture: Fixture, _ options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits = .desktop
    )
        throws -> DecodedImage
    {
        var options = options
        if let page = fixture.page { options.frames = .index(page) }
        return try ImageCoderRegistry.standard.decode(
            fixture.data(), options: options, context: ImageProcessingContext(limits: limits))
    }

    @Test("The manifest lists fixtures of every enabled format")
    func fixturesAreThere() {
        let formats: [ImageFormat] = [.ico, .cur, .avif, .jxl, .tiff, .heif, .svg, .pdf]
        let wanted = Set(formats.filter(ImageCoderRegistry.standard.canDecode))
        #expect(Set(Fixture.optional.map(\.format)) == wanted)
    }

    @Test("Every image matches its reference", arguments: Fixture.optional)
    func matchesReference(_ fixture: Fixture) throws {
        let image = try decode(fixture)
        #expect(image.size == fixture.size)
        #expect(image.format == fixture.format)
        let expected = try fixture.expectedFrames()
        #expect(isClose(image.pixels.packedBytes(), expected[0], fixture.tolerance))
        #expect(image.isOpaque == !expected[0].enumerated().contains { $0.offset % 4 == 3 && $0.element < 255 })
        #expect(!image.metadata.isPartial)
        if let hasAlpha = fixture.hasAlpha { #expect(image.metadata.hasAlpha == hasAlpha) }
        if let depth = fixture.depth { #expect(image.metadata.bitDepth == depth) }
        if let orientation = fixture.orientation { #expect(image.metadata.orientation == orientation) }
    }

    @Test("The probe returns the size of the decoded image", arguments: Fixture.optional.filter { $0.page == nil })
    func probeAgrees(_ fixture: Fixture) throws {
        #expect(try ImageInfo(data: fixture.data()).size == fixture.size)
    }

    @Test("Frames match their references in any order", arguments: Fixture.optional.filter { $0.frames > 1 })
    func frames(_ fixture: Fixture) throws {
        let image = try decode(fixture)
        let animation = try #require(image.animation)
        #expect(image.frameCount == fixture.frames)
        #expect(animation.timeline.loopCount == fixture.loop)
        #expect(animation.timeline.durations.allSatisfy { $0 == 100 })
        let expected = try fixture.expectedFrames()
        let forward = Array(0..<fixture.frames)
        var generator = SeededGenerator(5)
        for place in forward + forward.reversed() + (forward + forward).shuffled(using: &generator) {
            #expect(isClose(try animation.frame(at: place).packedBytes(), expected[place], fixture.tolerance))
        }
        for place in forward {
            let alone = try decode(fixture, ImageDecodingOptions(frames: .index(place)))
            #expect(isClose(alone.pixels.packedBytes(), expected[place], fixture.tolerance))
            #expect(!alone.isAnimated)
        }
        #expect(try !decode(fixture, ImageDecodingOptions(frames: .first)).isAnimated)
        #expect(try !decode(fixture, limits: .server).isAnimated)
    }

    @Test("A smaller size resembles the scaled full image", arguments: Fixture.optional)
    func scaled(_ fixture: Fixture) throws {
        let target = TargetSize.fit(width: Double(fixture.width) / 2, height: Double(fixture.height) / 2)
        let image = try decode(fixture, ImageDecodingOptions(size: target))
        #expect(image.size == (try target.plan(for: fixture.size).output))
        // An icon contains a different image for this size, and vector images have different edges.
        guard ![.svg, .pdf, .ico].contains(fixture.format) else { return }
        let whole = try decode(fixture).pixels
        let reduced = try Resampler.resample(
            whole, window: SampleRect(whole.size), to: image.size, filter: .lanczos3, context: ImageProcessingContext())
        #expect(similarity(image.pixels, reduced) > 45)
    }

    @Test("A frame that doesn't exist throws an error", arguments: Fixture.optional.filter { $0.page == nil })
    func missingFrame(_ fixture: Fixture) throws {
        for index in [-1, 77] {
            #expect { try decode(fixture, ImageDecodingOptions(frames: .index(index))) } throws: {
                if case .request(.frameNotFound) = $0 as? ImageError { true } else { false }
            }
        }
    }

    @Test("Decoders obey the limits", arguments: Fixture.optional)
    func limits(_ fixture: Fixture) throws {
        var limits = ImageLimits.desktop
        limits.maxDimension = max(fixture.width, fixture.height) - 1
        #expect { try decode(fixture, limits: limits) } throws: { ($0 as? ImageError)?.code == 6003 }
        limits = .desktop
        limits.maxDecodedBytes = 100
        #expect { try decode(fixture, limits: limits) } throws: {
            [4010, 6006].contains(($0 as? ImageError)?.code)
        }
    }

    @Test("Canceled decoding stops", arguments: Fixture.optional)
    func cancellation(_ fixture: Fixture) throws {
        let flag = CancellationFlag()
        flag.cancel()
        #expect(throws: ImageError.cancelled) {
            try ImageCoderRegistry.standard.decode(
                fixture.data(), context: ImageProcessingContext(isCancelled: { flag.isCancelled }))
        }
    }

    private func isClose(_ pixels: [UInt8], _ expected: [UInt8], _ tolerance: Double) -> Bool {
        tolerance == 0 ? areEqual(pixels, expected) : difference(pixels, expected) <= tolerance
    }
}

@Suite("Corrupt data in optional formats and icons")
struct OptionalFormatDamageTests {
    @Test(
        "Truncated data results in an error or an image, and only `allowsPartial` returns partial images",
        arguments: Fixture.optional)
    func truncations(_ fixture: Fixture) throws {
        let data = try fixture.data()
        for part in 1..<48 {
            let cut = data.prefix(data.count * part / 48)
            for partial in [false, true] {
                let result = try CorruptData.attempt(cut, fixture.format, partial: partial)
                guard case .success(let image) = result else { continue }
                #expect(partial || !image.metadata.isPartial)
            }
        }
    }

    @Test("Flipped bits never crash a decoder", arguments: Fixture.optional)
    func bitFlips(_ fixture: Fixture) throws { try CorruptData.flipBits(of: fixture) }

    @Test("Replaced bytes in headers never crash a decoder", arguments: Fixture.optional)
    func headerFlips(_ fixture: Fixture) throws {
        try CorruptData.replaceBytes(of: fixture, first: 96, with: [0, 0x80, 0xFF])
    }

    @Test("Random bytes never crash a decoder")
    func noise() throws {
        for format in Set(Fixture.optional.map(\.format)) {
            try CorruptData.decodeNoise(as: format, rounds: 100)
            #expect(throws: ImageError.decoding(.noData)) {
                try coder(for: format).decode(
                    Data(), info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext())
            }
        }
    }
}
