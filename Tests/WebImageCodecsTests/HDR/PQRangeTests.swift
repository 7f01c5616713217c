// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

@Suite("The dynamic range pq")
struct PQRangeTests {
    private static func decode(
        _ data: Data, _ range: ImageDecodingOptions.DynamicRange, size: TargetSize? = nil
    ) throws -> DecodedImage {
        try DecodedImage(data: data, options: ImageDecodingOptions(size: size, dynamicRange: range))
    }

    private static func fixture(_ name: String) throws -> Data {
        try Data(contentsOf: Fixtures.directory.appending(path: "colors/\(name)"))
    }

    /// Checks that the pixels are those of a rendering in PQ, and that the metadata describe the pixels and the file.
    private func expect(
        _ image: DecodedImage, rendering source: DecodedImage, headroom: Double
    ) throws {
        let rendered = try source.with(gainMap: source.metadata.hasHDRSamples ? nil : source.gainMap)
            .rendered(headroom: headroom, as: .pq, primaries: .bt2020)
        let expected = try #require(rendered.image)
        #expect(image.pixels.format == .rgba16 && image.pixels.packedBytes() == expected.pixels.packedBytes())
        #expect(image.displayedCodePoints == .pq && image.metadata.color == .source)
        #expect(image.metadata.iccProfile == nil && image.metadata.lightCurve == .pq)
        #expect(image.isHDR && image.gainMap == nil)
        #expect(image.format == source.format && image.scale == source.scale)
        #expect(image.metadata.storedSize == source.metadata.storedSize)
        #expect(image.metadata.orientation == source.metadata.orientation)
        #expect(image.metadata.hasGainMap == source.metadata.hasGainMap)
    }

    @Test(
        "A gain map is applied at its full strength, also to a thumbnail", arguments: [nil, TargetSize.fit(width: 50)])
    func gainMap(size: TargetSize?) throws {
        let sample = try GainMapTests.sample()
        for profile in [nil, try ColorFixture.profile("p3")] {
            var metadata = ImageMetadata(storedSize: sample.size)
            metadata.iccProfile = profile.map { Data($0) }
            metadata.color = profile == nil ? .sRGB : .displayP3
            let data = try sample.with(metadata: metadata).encoded(as: .jpeg(quality: 95))
            let high = try Self.decode(data, .high, size: size)
            #expect(high.gainMap != nil)
            try expect(try Self.decode(data, .pq, size: size), rendering: high, headroom: 8)
        }
    }

    @Test(
        "HLG is converted, and PQ keeps its samples", arguments: ["16-16.png", "18-16.png", "16-12.avif", "18-10.avif"])
    func samples(_ name: String) throws {
        let data = try Self.fixture("cicp-9-\(name)")
        guard let format = ImageFormat(sniffing: data), ImageCoderRegistry.standard.canDecode(format) else { return }
        let high = try Self.decode(data, .high)
        let image = try Self.decode(data, .pq)
        if name.hasPrefix("18") { return try expect(image, rendering: high, headroom: 10_000 / 203) }
        #expect(image.pixels.packedBytes() == high.pixels.packedBytes() && image.metadata == high.metadata)
        #expect(image.displayedCodePoints == .pq)
    }

    @Test("The gain map of a file in PQ, which describes its standard range, is omitted")
    func inverse() throws {
        for name in HDRFiles.names("avif") {
            let data = try HDRFiles.data(name)
            let high = try Self.decode(data, .high)
            guard high.metadata.hasHDRSamples else { continue }
            let image = try Self.decode(data, .pq)
            #expect(image.gainMap == nil && image.isHDR, "\(name)")
            if high.metadata.lightCurve == .pq { #expect(image.pixels.hasSamePixels(as: high.pixels), "\(name)") }
        }
    }

    @Test("Images with a standard range, animations, and previews are the same as for the standard range")
    func others() throws {
        let plain = try DecodedImage(
            pixels: PixelPatterns.make(width: 9, height: 7, isOpaque: false) { x, y in
                SIMD4(UInt8(x * 8), UInt8(y * 9), 7, 255)
            })
        for format in [ImageFormat.png, .jpeg] {
            let data = try plain.encoded(as: ImageEncoding(format: format))
            let (standard, image) = try (Self.decode(data, .standard), Self.decode(data, .pq))
            #expect(image.pixels.packedBytes() == standard.pixels.packedBytes() && image.metadata == standard.metadata)
            #expect(!image.isHDR && image.displayedCodePoints == nil)
        }
        let flipped = try FlipTransformer(.horizontal).transform(plain.pixels, context: ImageProcessingContext())
        let frames = [plain.pixels, flipped].map { (pixels: $0, duration: Duration.milliseconds(40)) }
        let moving = DecodedImage(pixels: plain.pixels, animation: try ImageAnimation(frames: frames))
        var parts = PNGParts(try moving.encoded(as: ImageEncoding(format: .apng)))
        parts.chunks.insert(PNGParts.Chunk(name: "cICP", body: [9, 16, 0, 1]), at: 1)
        let data = parts.file
        #expect(try ImageInfo(data: data).codePoints == .pq)
        let standard = try Self.decode(data, .standard)
        for range in [ImageDecodingOptions.DynamicRange.high, .pq] {
            let image = try Self.decode(data, range)
            #expect(image.isAnimated && !image.metadata.hasHDRSamples)
            #expect(image.pixels.packedBytes() == standard.pixels.packedBytes())
        }
    }

    @Test("A coder that the request specifies renders, too")
    func specifiedCoder() throws {
        let data = try GainMapTests.sample().encoded(as: .jpeg(quality: 95))
        let options = ImageDecodingOptions(dynamicRange: .pq)
        let image = try ImageCoderRegistry(only: JPEGCoder()).decode(data, options: options)
        #expect(image.displayedCodePoints == .pq && image.gainMap == nil)
        #expect(try image.pixels.packedBytes() == Self.decode(data, .pq).pixels.packedBytes())
    }

    @Test("The limit on decoded pixels applies to the rendering")
    func limits() throws {
        let data = try GainMapTests.sample().encoded(as: .jpeg(quality: 95))
        var limits = ImageLimits.desktop
        limits.maxDecodedBytes = 128 * 96 * 6
        let context = ImageProcessingContext(limits: limits)
        let error = #expect(throws: ImageError.self) {
            try ImageCoderRegistry.standard.decode(
                data, options: ImageDecodingOptions(dynamicRange: .pq), context: context)
        }
        guard case .limitExceeded(let failure) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(failure.kind == .decodedSize)
    }
}
