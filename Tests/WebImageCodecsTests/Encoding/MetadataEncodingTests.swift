// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Encoding metadata", .timeLimit(.minutes(5)))
struct MetadataEncodingTests {
    /// The available formats that can contain EXIF and XMP.
    static let formats = [ImageFormat.jpeg, .png, .apng, .webp, .avif, .heif, .jxl]
        .filter(ImageCoderRegistry.standard.canEncode)

    private func image(_ exif: [UInt8]? = SampleMetadata.exif, _ xmp: [UInt8]? = SampleMetadata.xmp()) throws
        -> DecodedImage
    {
        let pixels = try PixelPatterns.photo(width: 60, height: 40)
        let metadata = ImageMetadata(
            storedSize: pixels.size, orientation: .right, iccProfile: try ColorFixture.profile("adobe"), exif: exif,
            xmp: xmp)
        return DecodedImage(pixels: pixels, metadata: metadata)
    }

    private func encode(_ image: DecodedImage, _ format: ImageFormat, _ policy: ImageEncoding.MetadataPolicy) throws
        -> Data
    {
        try ImageCoderRegistry.standard.encode(
            image, as: ImageEncoding(format: format).with(\.metadata, policy), context: ImageProcessingContext())
    }

    @Test("By default, encoders write no metadata and no profile that doesn't apply to the pixels", arguments: formats)
    func strip(_ format: ImageFormat) throws {
        let data = try encode(image(), format, .strip)
        #expect(EmbeddedMetadata(reading: data).isEmpty)
        for word in ["Camera 1", "xmpmeta", "ADBE", "Exif"] {
            #expect(data.firstRange(of: Data(word.utf8)) == nil, "\(word)")
        }
        #expect(
            try ImageCoderRegistry.standard.decode(
                data,
                context: ImageProcessingContext()
            ).metadata.iccProfile == nil)
    }

    @Test("With `keep`, EXIF and XMP are written and adapted to the upright pixels", arguments: formats)
    func keep(_ format: ImageFormat) throws {
        let data = try encode(image(), format, .keep)
        let found = EmbeddedMetadata(reading: data)
        let block = try SampleMetadata.block(in: found)
        #expect(block.photo.contains { $0.tag == 0x927C } && !block.position.isEmpty)
        #expect(
            try #require(found.xmp).elementsEqual(
                String(decoding: SampleMetadata.xmp(), as: UTF8.self).replacing("\"6\"", with: "\"1\"").utf8))
        let back = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
        #expect(back.size == PixelSize(width: 60, height: 40) && back.metadata.orientation == .up)
        guard Tools.hasExiftool else { return }
        let tags = try Tools.tags(data, format.fileExtension)
        #expect(tags["IFD0:Model"] == "Camera 1" && tags["IFD0:Orientation"] == "1")
        #expect(tags["ExifIFD:ExifImageWidth"] == "60" && tags["ExifIFD:ExifImageHeight"] == "40")
        #expect(tags["ExifIFD:DateTimeOriginal"] == "2020:01:02 03:04:05")
        #expect(tags["ExifIFD:ColorSpace"] == "1" && tags["InteropIFD:InteropIndex"] == nil)
        #expect(tags["GPS:GPSLatitude"]?.hasPrefix("47.36") == true)
        #expect(tags["XMP-dc:Format"] == "words" && tags["XMP-tiff:Orientation"] == "1")
        #expect(tags["ExifTool:Warning"] == nil, "\(tags["ExifTool:Warning"] ?? "")")
    }

    @Test("With `keepWithoutLocation`, the location is removed and the rest is kept", arguments: formats)
    func noLocation(_ format: ImageFormat) throws {
        let place = SampleMetadata.xmp(" exif:GPSLatitude=\"47,22.0N\"")
        for xmp in [SampleMetadata.xmp(), place] {
            let data = try encode(image(SampleMetadata.exif, xmp), format, .keepExceptLocation)
            let found = EmbeddedMetadata(reading: data)
            let block = try SampleMetadata.block(in: found)
            #expect(block.position.isEmpty && block.main.contains { $0.tag == 0x0110 })
            #expect(block.photo.allSatisfy { $0.tag != 0x927C })
            #expect((found.xmp == nil) == (xmp == place))
            #expect(data.firstRange(of: Data("GPS".utf8)) == nil)
            // The numerators and denominators of the location.
            #expect(data.firstRange(of: Data([47, 0, 0, 0, 1, 0, 0, 0, 22, 0, 0, 0])) == nil)
            guard Tools.hasExiftool else { continue }
            #expect(try Tools.tags(data, format.fileExtension).keys.allSatisfy { !$0.contains("GPS") })
        }
    }

    @Test("The orientation of the original data isn't applied a second time", arguments: formats)
    func orientation(_ format: ImageFormat) throws {
        for orientation in 1...8 {
            let original = try Fixture.named("orientation-\(orientation).jpg").data()
            let image = try ImageCoderRegistry.standard.decode(original, context: ImageProcessingContext())
            var encoding = ImageEncoding(format: format, quality: 95).with(\.metadata, .keep)
            encoding.chromaSubsampling = .yuv444
            let data = try ImageCoderRegistry.standard.encode(
                image, as: encoding, original: original, context: ImageProcessingContext())
            let back = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
            #expect(back.size == image.size)
            #expect(similarity(back.pixels, image.pixels) > 25, "\(orientation)")
            let exif = try #require(EmbeddedMetadata(reading: data).exif)
            #expect((ImageOrientation(exif: Data(exif)) ?? .up) == .up)
        }
    }

    @Test("Metadata comes from the original data of every format", arguments: formats)
    func fromOriginal(_ format: ImageFormat) throws {
        let original = try encode(image(), format, .keep)
        let picture = try ImageCoderRegistry.standard.decode(original, context: ImageProcessingContext())
        #expect(picture.metadata.exif == nil)
        let data = try ImageCoderRegistry.standard.encode(
            picture, as: ImageEncoding(format: .jpeg).with(\.maxDimension, 30).with(\.metadata, .keep),
            original: original,
            context: ImageProcessingContext())
        let block = try SampleMetadata.block(in: data)
        let width = try #require(block.photo.first { $0.tag == 0xA002 })
        #expect(width.bytes.first == 30)
    }

    #if TIFF
        @Test("TIFF keeps XMP")
        func tiff() throws {
            let data = try encode(image(), .tiff, .keep)
            #expect(EmbeddedMetadata(reading: data).xmp != nil)
            guard Tools.hasExiftool else { return }
            #expect(try Tools.tags(data, "tif")["XMP-dc:Format"] == "words")
        }
    #endif

    @Test(
        "A profile is written if the pixels use it, and decoding returns the same colors",
        arguments: formats + [.tiff].filter(ImageCoderRegistry.standard.canEncode))
    func profile(_ format: ImageFormat) throws {
        for name in ["adobe.jpg", "p3.jpg", "prophoto.jpg"] {
            let original = try ColorFixture.read(name)
            let expected = try ImageCoderRegistry.standard.decode(original, context: ImageProcessingContext())
            let source = try ImageCoderRegistry.standard.decode(
                original, options: ImageDecodingOptions(color: .source), context: ImageProcessingContext())
            let encoding = ImageEncoding(format: format, quality: 97).with(\.chromaSubsampling, .yuv444)
            let data = try ImageCoderRegistry.standard.encode(source, as: encoding, context: ImageProcessingContext())
            let back = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
            let isTagged = back.metadata.iccProfile != nil || back.metadata.fileCodePoints?.primaries == 12
            #expect(isTagged, "\(name)")
            #expect(similarity(back.pixels, expected.pixels) > 27, "\(name)")
            let converted = try ImageCoderRegistry.standard.encode(
                expected, as: encoding,
                context: ImageProcessingContext())
            let plain = try ImageCoderRegistry.standard.decode(converted, context: ImageProcessingContext())
            #expect(plain.metadata.iccProfile == nil)
            #expect(similarity(plain.pixels, expected.pixels) > 27, "\(name)")
        }
    }

    @Test("A gray profile is written only for gray images, and a CMYK profile is never written")
    func otherProfiles() throws {
        for (name, isKept) in [("gray.jpg", true), ("cmyk.jpg", false)] {
            let source = try ImageCoderRegistry.standard.decode(
                try ColorFixture.read(name), options: ImageDecodingOptions(color: .source),
                context: ImageProcessingContext())
            for format in [ImageFormat.jpeg, .png] {
                let data = try encode(source, format, .strip)
                let back = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
                #expect((back.metadata.iccProfile != nil) == isKept, "\(name) \(format)")
                guard format == .png, Tools.hasPngcheck else { continue }
                try Tools.run(["/usr/bin/pngcheck", "-q", "picture.png"], data, as: "picture.png")
            }
        }
    }

    @Test("Metadata that exceeds a JPEG segment is omitted, starting with the maker note")
    func longExif() throws {
        var block = SampleMetadata.block(isBigEndian: true)
        block.photo = [ExifBlock.Entry(tag: 0x927C, kind: 7, count: 70_000, bytes: Array(repeating: 7, count: 70_000))]
        var data = try encode(image(block.serialized()), .jpeg, .keep)
        var kept = try SampleMetadata.block(in: data)
        #expect(kept.photo.isEmpty && kept.isBigEndian && kept.main.count == block.main.count)
        block.photo[0].tag = 0x9286
        data = try encode(image(block.serialized(), Array(repeating: 0x41, count: 70_000)), .jpeg, .keep)
        #expect(EmbeddedMetadata(reading: data).isEmpty)
        data = try encode(image(block.serialized()), .webp, .keep)
        kept = try SampleMetadata.block(in: data)
        #expect(kept.photo.first?.count == 70_000)
    }

    @Test(
        "Animations contain metadata",
        arguments: [ImageFormat.apng, .webp, .avif, .jxl].filter(ImageCoderRegistry.standard.canEncode))
    func animated(_ format: ImageFormat) throws {
        let frames = try (0..<3).map { try PixelPatterns.noise(width: 20, height: 16, seed: UInt64($0)) }
        let animation = try ImageAnimation(
            frames: frames.map { (pixels: $0, duration: Duration.milliseconds(100)) })
        let metadata = ImageMetadata(
            storedSize: PixelSize(width: 20, height: 16), exif: SampleMetadata.exif, xmp: SampleMetadata.xmp())
        let picture = DecodedImage(pixels: frames[0], animation: animation, metadata: metadata)
        let data = try encode(picture, format, .keep)
        let found = EmbeddedMetadata(reading: data)
        #expect(found.exif != nil && found.xmp != nil)
        #expect(try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext()).frameCount == 3)
    }
}
