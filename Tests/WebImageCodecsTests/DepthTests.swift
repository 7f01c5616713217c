// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Images with more than 8 bits per sample", .timeLimit(.minutes(5)))
struct DepthTests {
    @Test("Decoding at the source depth preserves every sample", arguments: DepthFixture.all)
    func keepsSamples(_ fixture: DepthFixture) throws {
        let image = try fixture.decode()
        #expect(image.pixels.format == .rgba16)
        #expect(image.metadata.bitDepth == fixture.depth)
        #expect(image.size == PixelSize(width: fixture.width, height: fixture.height))
        let found = difference(words(image.pixels), try fixture.expected())
        #expect(found.mean <= fixture.tolerance && Double(found.largest) <= fixture.tolerance * 24 + 1, "\(found)")
        let alphas = words(image.pixels).enumerated().filter { $0.offset % 4 == 3 }
        #expect(image.isOpaque == alphas.allSatisfy { $0.element == .max })
    }

    @Test("By default, samples have 8 bits and equal the rounded 16-bit samples", arguments: DepthFixture.all)
    func roundsToBytes(_ fixture: DepthFixture) throws {
        let narrow = try fixture.decode(ImageDecodingOptions())
        #expect(narrow.pixels.format == .rgba8)
        let deep = words(try fixture.decode().pixels).map { UInt8((Int($0) + 128) / 257) }
        let differences = try #require(SampleDifferences(narrow.pixels.packedBytes(), deep))
        // Premultiplied colors are rounded once in one case and twice in the other.
        #expect(differences.largest <= 1)
    }

    @Test("Images with 8 bits per sample stay unchanged", arguments: Fixture.stills + Fixture.optional)
    func keepsBytes(_ fixture: Fixture) throws {
        guard fixture.depth ?? 8 <= 8, fixture.page == nil else { return }
        let image = try fixture.decode(ImageDecodingOptions(preservesBitDepth: true))
        guard image.metadata.bitDepth <= 8 else { return }
        #expect(image.pixels.format == .rgba8)
        #expect(try image.pixels.hasSamePixels(as: fixture.decode().pixels))
    }

    @Test("Scaling preserves 16 bits", arguments: DepthFixture.all)
    func resamples(_ fixture: DepthFixture) throws {
        let image = try fixture.decode(ImageDecodingOptions(size: .fit(width: 9, height: 9), preservesBitDepth: true))
        #expect(image.pixels.format == .rgba16 && max(image.size.width, image.size.height) == 9)
        let full = try fixture.decode().pixels
        let reduced = try ResizeTransformer(to: .fit(width: 9, height: 9)).transform(
            full,
            context: ImageProcessingContext())
        // Colors may be converted after scaling.
        let limit = fixture.file.hasPrefix("p3") ? 300 : 1
        #expect(difference(words(image.pixels), words(reduced)).largest <= limit)
    }

    @Test("`fitting(bytes:)` counts 8 bytes per pixel")
    func countsBytes() throws {
        let fixture = try DepthFixture.named("rgb.png")
        let deep = try fixture.decode(
            ImageDecodingOptions(size: .fitting(byteCount: 24 * 18 * 4), preservesBitDepth: true))
        #expect(deep.pixels.format == .rgba16 && deep.size.width * deep.size.height * 8 <= 24 * 18 * 4)
        #expect(deep.cost == deep.pixels.byteCount)
        #expect(try fixture.decode(ImageDecodingOptions(size: .fitting(byteCount: 24 * 18 * 4))).size.width == 24)
    }

    @Test("The limit of decoded bytes counts 8 bytes per pixel", arguments: DepthFixture.all)
    func obeysLimits(_ fixture: DepthFixture) throws {
        var limits = ImageLimits.desktop
        limits.maxDecodedBytes = 24 * 18 * 6
        #expect(throws: ImageError.self) { try fixture.decode(limits: limits) }
        #expect(try fixture.decode(ImageDecodingOptions(), limits: limits).pixels.format == .rgba8)
    }

    @Test("Color conversion of 16-bit samples matches the conversion of 8-bit samples", arguments: ColorFixture.all)
    func convertsColours(_ fixture: ColorFixture) throws {
        let image = try fixture.decode(ImageDecodingOptions(preservesBitDepth: true))
        guard image.pixels.format == .rgba16 else { return }
        let narrow = words(image.pixels).map { UInt8((Int($0) + 128) / 257) }
        #expect(difference(narrow, try fixture.expected()) <= fixture.tolerance)
    }

    @Test("Frames of an animated PNG have 8 bits per sample")
    func composesAnimations() throws {
        for fixture in Fixture.animations where fixture.format == .apng {
            #expect(try fixture.decode(ImageDecodingOptions(preservesBitDepth: true)).pixels.format == .rgba8)
        }
    }

    @Test("The last preview is the image with 8 bits per sample", arguments: DepthFixture.all)
    func previewsHaveBytes(_ fixture: DepthFixture) throws {
        let data = try fixture.data()
        let start = try ImageCoderRegistry.standard.progressiveStart(
            data, options: ImageDecodingOptions(preservesBitDepth: true), context: ImageProcessingContext())
        guard case .decoder(let decoder, _) = start else { return }
        try decoder.append(data, isLast: true, context: ImageProcessingContext())
        let preview = try #require(try decoder.makePreview(context: ImageProcessingContext()))
        #expect(preview.isComplete && preview.image.pixels.format == .rgba8)
    }
}
