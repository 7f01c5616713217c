// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Corrupt data")
struct CorruptDataTests {
    @Test(
        "Truncated data is reported as truncated or corrupt, or results in a partial or complete image",
        arguments: Fixture.all)
    func truncations(_ fixture: Fixture) throws {
        let data = try fixture.data()
        for part in 1..<16 {
            let cut = data.prefix(data.count * part / 16)
            switch try CorruptData.attempt(cut, fixture.format, partial: false) {
            case .success(let image):
                // Complete frames are kept. If only an end marker or checksums are missing, the pixels are complete.
                #expect(image.size == fixture.storedSize)
                #expect(!image.metadata.isPartial || [.gif, .png, .apng].contains(fixture.format), "\(part)/16")
            case .failure(let error): #expect([4005, 4006].contains(error.code), "\(part)/16: \(error)")
            }
            if case .success(let image) = try CorruptData.attempt(cut, fixture.format, partial: true) {
                #expect(image.size == fixture.storedSize)
            }
        }
    }

    @Test(
        "A part of the data returns the top rows if partial images are allowed",
        arguments: [
            "444.jpg", "420-progressive.jpg", "rgb8.png", "rgba8-interlaced.png", "still.gif", "lossy-80.webp",
            "rgb24-top-down.bmp", "rgb8.ppm", "text4.pgm", "text.pbm", "rgba8.pam",
        ])
    func partialPictures(_ file: String) throws {
        let fixture = try Fixture.named(file)
        let half = try fixture.data().prefix(fixture.data().count * 7 / 10)
        #expect { try CorruptData.attempt(half, fixture.format, partial: false).get() } throws: {
            ($0 as? ImageError)?.code == 4005
        }
        let image = try CorruptData.attempt(half, fixture.format, partial: true).get()
        #expect(image.metadata.isPartial)
        let expected = try fixture.expectedFrames()[0]
        let pixels = image.pixels.packedBytes()
        // Passes and scans cover the whole image, and libwebp shows no row before its block is complete.
        if !file.contains("progressive"), !file.contains("interlaced"), fixture.format != .webp {
            let count = 3 * fixture.width * 4
            #expect(difference(Array(pixels.prefix(count)), Array(expected.prefix(count))) <= 4)
        }
    }

    @Test("A file without only its end marker is complete", arguments: ["444.jpg", "420-progressive.jpg", "gray.jpg"])
    func missingEndMarker(_ file: String) throws {
        let fixture = try Fixture.named(file)
        let image = try CorruptData.attempt(fixture.data().dropLast(2), .jpeg, partial: false).get()
        #expect(!image.metadata.isPartial)
    }

    @Test("Flipped bits never crash a decoder", arguments: Fixture.all)
    func bitFlips(_ fixture: Fixture) throws { try CorruptData.flipBits(of: fixture) }

    @Test("Replaced bytes in headers never crash a decoder", arguments: Fixture.all)
    func headerFlips(_ fixture: Fixture) throws {
        try CorruptData.replaceBytes(of: fixture, first: 64, with: [0, 0x7F, 0x80, 0xFF])
    }

    @Test("Random bytes never crash a decoder", arguments: [ImageFormat.jpeg, .png, .gif, .webp, .bmp, .qoi, .ppm])
    func noise(_ format: ImageFormat) throws {
        try CorruptData.decodeNoise(as: format, rounds: 200)
        #expect(throws: ImageError.decoding(.noData)) {
            try coder(for: format).decode(
                Data(), info: nil, options: ImageDecodingOptions(),
                context: ImageProcessingContext())
        }
    }
}

@Suite("Limits of the coders")
struct CoderLimitsTests {
    @Test("An image that exceeds the side limit is rejected", arguments: Fixture.stills)
    func side(_ fixture: Fixture) throws {
        var limits = ImageLimits.desktop
        limits.maxDimension = max(fixture.width, fixture.height) - 1
        #expect { try fixture.decode(limits: limits) } throws: { ($0 as? ImageError)?.code == 6003 }
    }

    @Test(
        "Pixels that exceed the byte limit are rejected",
        arguments: ["444.jpg", "rgb8.png", "still.gif", "rgb24.bmp", "rgb.qoi", "rgb8.ppm"])
    func bytes(_ file: String) throws {
        var limits = ImageLimits.desktop
        limits.maxDecodedBytes = 100
        #expect { try Fixture.named(file).decode(limits: limits) } throws: { ($0 as? ImageError)?.code == 6006 }
    }

    @Test("A file with more frames than `maxFrames` is rejected, and a limit of one frame returns the poster frame")
    func frames() throws {
        for file in ["mixed.gif", "animated.webp"] {
            let fixture = try Fixture.named(file)
            var limits = ImageLimits.desktop
            limits.maxFrames = 2
            #expect { try fixture.decode(limits: limits) } throws: { ($0 as? ImageError)?.code == 6004 }
            #expect(try !fixture.decode(limits: .server).isAnimated)
        }
    }

    @Test("Canceled decoding stops", arguments: [ImageFormat.jpeg, .png, .gif, .webp, .bmp, .qoi, .ppm, .pam])
    func cancellation(_ format: ImageFormat) throws {
        let flag = CancellationFlag()
        flag.cancel()
        let fixture = try #require(Fixture.all.first { $0.format == format })
        #expect(throws: ImageError.cancelled) {
            try coder(for: format).decode(
                fixture.data(), info: fixture.probe, options: ImageDecodingOptions(),
                context: ImageProcessingContext(isCancelled: { flag.isCancelled }))
        }
    }

    @Test("A JPEG with more than a hundred scans is rejected")
    func scans() throws {
        let data = try Fixture.named("gray-progressive.jpg").data()
        let bytes = [UInt8](data)
        // Repeat the last scan, from its marker to the end marker.
        let start = try #require((0..<bytes.count - 1).last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
        var many = data.dropLast(2)
        for _ in 0..<120 { many.append(data[start..<data.count - 2]) }
        many.append(contentsOf: [0xFF, 0xD9])
        #expect {
            try JPEGCoder().decode(many, info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext())
        } throws: {
            guard let code = ($0 as? ImageError)?.code else { return false }
            return code == 6009 || code == 4006
        }
    }
}
