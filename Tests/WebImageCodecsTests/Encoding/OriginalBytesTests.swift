// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Encoding with the original data")
struct OriginalBytesTests {
    private let context = ImageProcessingContext()

    private func encode(
        _ data: Data, _ encoding: ImageEncoding, _ change: (DecodedImage) throws -> DecodedImage = { $0 }
    ) throws
        -> Data
    {
        let image = try change(try ImageCoderRegistry.standard.decode(data, context: context))
        return try ImageCoderRegistry.standard.encode(image, as: encoding, original: data, context: context)
    }

    private func format(_ data: Data) -> ImageFormat? { ImageFormat(sniffing: data) }

    @Test("The automatic format returns the original data if nothing changed")
    func unchanged() throws {
        for name in ["420.jpg", "rgb8.png", "lossy-80.webp", "dispose-none-opaque.gif", "animated.webp", "rgb24.bmp"] {
            let data = try Fixture.named(name).data()
            var keep = ImageEncoding.automatic
            keep.metadata = .keep
            #expect(try encode(data, keep) == data, "\(name)")
        }
        let plain = try PixelPatterns.encode(PixelPatterns.photo(width: 30, height: 20), as: .jpeg)
        #expect(try encode(plain, .automatic) == plain)
    }

    @Test("Original data with metadata isn't returned if the metadata must be stripped")
    func stripped() throws {
        let data = try Fixture.named("orientation-6.jpg").data()
        let result = try encode(data, .automatic)
        #expect(result != data && EmbeddedMetadata(reading: result).isEmpty && format(result) == .jpeg)
    }

    @Test("After a change, animations become WebP or GIF, transparent images PNG, and others JPEG")
    func changed() throws {
        var small = ImageEncoding.automatic
        small.maxDimension = 10
        for (name, expected) in [
            ("420.jpg", ImageFormat.jpeg), ("rgb8.png", .jpeg), ("rgba8.png", .png), ("animated.webp", .webp),
            ("dispose-none-opaque.gif", .gif), ("apng-rgba.png", .webp),
        ] {
            #expect(try format(encode(Fixture.named(name).data(), small)) == expected, "\(name)")
        }
        // A single changed pixel is sufficient.
        let data = try Fixture.named("rgba8.png").data()
        let turned = try encode(data, .automatic) { image in
            let bytes = image.pixels.packedBytes()
            let pixels = try PixelPatterns.make(width: image.size.width, height: image.size.height, isOpaque: false) {
                x, y in
                let at = (y * image.size.width + x) * 4
                return x == 0 && y == 0
                    ? SIMD4(1, 2, 3, 4) : SIMD4(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3])
            }
            return image.replacing(pixels: pixels, animation: nil)
        }
        #expect(turned != data && format(turned) == .png)
    }

    @Test("Limits also apply to the original data")
    func limits() throws {
        let data = try PixelPatterns.encode(PixelPatterns.noise(width: 60, height: 40), as: .png)
        var encoding = ImageEncoding.automatic
        encoding.maxByteCount = 2_000
        let result = try encode(data, encoding)
        #expect(result.count <= 2_000 && format(result) == .jpeg)
    }

    @Test("Without the original data, the automatic format encodes the pixels")
    func withoutOriginal() throws {
        let data = try Fixture.named("rgb8.png").data()
        let image = try ImageCoderRegistry.standard.decode(data, context: context)
        #expect(try format(ImageCoderRegistry.standard.encode(image, as: .automatic, context: context)) == .jpeg)
    }

    #if JXL
        private var lossless: ImageEncoding { ImageEncoding(format: .jxl, isLossless: true).with(\.metadata, .keep) }

        @Test(
            "A JPEG that is transcoded to JPEG XL can be restored bit by bit",
            .enabled(if: Tools.hasDjxl, "requires libjxl-tools"),
            arguments: [
                "420.jpg", "444-progressive.jpg", "gray.jpg", "restart.jpg", "orientation-1.jpg", "orientation-3.jpg",
                "orientation-6.jpg", "odd-17x1.jpg",
            ])
        func transcode(_ name: String) throws {
            let data = try Fixture.named(name).data()
            let result = try encode(data, lossless)
            let words = ["/usr/bin/djxl", "picture.jxl", "back.jpg"]
            #expect(try Tools.output("back.jpg", words, result, as: "picture.jxl") == data)
            let image = try ImageCoderRegistry.standard.decode(data, context: context)
            let back = try ImageCoderRegistry.standard.decode(result, context: context)
            #expect(back.size == image.size)
            #expect(similarity(back.pixels, image.pixels) > 30)
        }

        @Test(
            "Metadata is removed from the JPEG itself, and the orientation is kept",
            .enabled(if: Tools.hasDjxl, "requires libjxl-tools"))
        func transcodeStripped() throws {
            let pixels = try PixelPatterns.photo(width: 60, height: 40)
            let metadata = ImageMetadata(storedSize: pixels.size, exif: SampleMetadata.exif, xmp: SampleMetadata.xmp())
            var data = try ImageCoderRegistry.standard.encode(
                DecodedImage(pixels: pixels, metadata: metadata),
                as: ImageEncoding(format: .jpeg).with(\.metadata, .keep),
                context: context)
            // Set the orientation to 6, as a camera does.
            let tag = try #require(data.firstRange(of: Data([0x12, 1, 3, 0, 1, 0, 0, 0, 1, 0])))
            data[tag.lowerBound + 8] = 6
            let image = try ImageCoderRegistry.standard.decode(data, context: context)
            #expect(image.size == PixelSize(width: 40, height: 60))
            for policy in [ImageEncoding.MetadataPolicy.strip, .keepExceptLocation, .keep] {
                var encoding = lossless
                encoding.metadata = policy
                let result = try ImageCoderRegistry.standard.encode(
                    image, as: encoding, original: data, context: context)
                let back = try ImageCoderRegistry.standard.decode(result, context: context)
                #expect(back.size == image.size)
                #expect(similarity(back.pixels, image.pixels) > 30)
                let jpeg = try Tools.output(
                    "back.jpg", ["/usr/bin/djxl", "picture.jxl", "back.jpg"], result, as: "picture.jxl")
                let found = EmbeddedMetadata(reading: jpeg)
                let block = try SampleMetadata.block(in: found)
                #expect(ImageOrientation(exif: Data(found.exif ?? [])) == .right)
                #expect(block.position.isEmpty == (policy != .keep))
                #expect(block.main.contains { $0.tag == 0x0110 } == (policy != .strip))
                #expect((found.xmp == nil) == (policy == .strip))
                #expect((jpeg == data) == (policy == .keep))
            }
        }

        @Test("Changed, scaled-down, and CMYK images are encoded from their pixels")
        func notTranscoded() throws {
            let data = try Fixture.named("420.jpg").data()
            var encoding = lossless
            encoding.maxDimension = 10
            #expect(try ImageCoderRegistry.standard.decode(encode(data, encoding), context: context).size.width <= 10)
            let ink = try Fixture.named("cmyk.jpg").data()
            let image = try ImageCoderRegistry.standard.decode(ink, context: context)
            let back = try ImageCoderRegistry.standard.decode(encode(ink, lossless), context: context)
            #expect(back.pixels.packedBytes() == image.pixels.packedBytes())
            let red = try encode(data, lossless) { image in
                image.replacing(
                    pixels: try PixelPatterns.flat(width: image.size.width, height: image.size.height), animation: nil)
            }
            #expect(try ImageCoderRegistry.standard.decode(red, context: context).pixels.pixel(x: 1, y: 1)?.blue == 200)
        }
    #endif
}
