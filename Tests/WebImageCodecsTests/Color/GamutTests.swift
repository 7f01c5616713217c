// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestBasics

@testable import WebImageCodecs

@Suite("Gamuts of encoded images")
struct GamutTests {
    static let formats = [ImageFormat.jpeg, .png, .webp, .tiff, .avif, .heif, .jxl].filter(
        ImageCoderRegistry.standard.canEncode)

    /// Decodes patches, reduces them to half their size, encodes them, and decodes the file.
    private func survivor(
        _ patches: GamutPatches, _ format: ImageFormat, _ color: ImageColorSpace = .source
    ) throws -> DecodedImage {
        let registry = ImageCoderRegistry.standard
        let size = patches.size
        let options = ImageDecodingOptions(
            size: .exact(width: Double(size.width / 2), height: Double(size.height / 2)), color: .source)
        let image = try registry.decode(patches.file, options: options)
        // Lossy WebP has only 219 levels of brightness and half the chroma resolution, which changes colors by more
        // than the tolerance, regardless of the gamut.
        let encoding = ImageEncoding(format: format, quality: 98, isLossless: format == .webp).with(
            \.chromaSubsampling, .yuv444
        ).with(\.color, color)
        let data = try registry.encode(image, as: encoding)
        return try registry.decode(data, options: ImageDecodingOptions(color: .source))
    }

    /// The colors of the patches by profile after a conversion to sRGB.
    private static let clippedColors = SharedValues<String, [UInt8]>()

    @Test(
        "Saturated patches survive load, resize, and encode",
        .enabled(if: LabConverter.isAvailable, "requires liblcms2-utils"),
        arguments: ["p3", "adobe", "prophoto"], formats)
    func survives(_ profile: String, _ format: ImageFormat) throws {
        let patches = try GamutPatches(profile: profile)
        let expected = try LabConverter.lab(of: patches.colors, profile: GamutPatches.icc(profile))
        let image = try survivor(patches, format)
        let actual = try LabConverter.lab(of: patches.centers(of: image), profile: image.profileOfPixels())
        let differences = zip(expected, actual).map { $0.difference(from: $1) }
        let worst = try #require(differences.max())
        #expect(worst <= 1, "\(differences)")
        // The patches must not be sRGB, or the test would also accept clipped colors.
        let colors = try Self.clippedColors.value(for: profile) {
            patches.centers(of: try survivor(patches, .png, .sRGB))
        }
        let clipped = try LabConverter.lab(of: colors, profile: GamutPatches.icc("srgb"))
        #expect(zip(expected, clipped).contains { $0.difference(from: $1) > 3 })
    }

    /// Returns the reduced patches in a color space. If there's no fixture for it, the samples of another one count as those
    /// of the code points.
    private func reduced(_ space: String) throws -> (image: DecodedImage, patches: GamutPatches, profile: [UInt8]) {
        let patches = try GamutPatches(profile: space == "bt2020" ? "prophoto" : space)
        let (width, height) = (Double(patches.size.width / 2), Double(patches.size.height / 2))
        var image = try ImageCoderRegistry.standard.decode(
            patches.file, options: ImageDecodingOptions(size: .exact(width: width, height: height), color: .source))
        guard space == "bt2020" else { return (image, patches, try GamutPatches.icc(space)) }
        let points = ColorCodePoints(primaries: 9, transfer: 1)
        image = DecodedImage(
            pixels: image.pixels,
            metadata: ImageMetadata(storedSize: image.size, codePoints: points, color: .source))
        return (image, patches, try #require(StandardColorSpace(points)?.profile))
    }

    @Test(
        "With the default options, patches beyond Display P3 survive load, resize, and encode",
        .enabled(if: LabConverter.isAvailable, "requires liblcms2-utils"),
        arguments: ["adobe", "prophoto", "bt2020"],
        [ImageFormat.jpeg, .png, .webp, .avif, .jxl].filter(ImageCoderRegistry.standard.canEncode))
    func survivesDefaults(_ space: String, _ format: ImageFormat) throws {
        let registry = ImageCoderRegistry.standard
        let (image, patches, profile) = try reduced(space)
        let data = try registry.encode(image, as: ImageEncoding(format: format))
        let options = ImageDecodingOptions(color: .source)
        let read = try registry.decode(data, options: options)
        let isDescribed = read.metadata.iccProfile == nil && read.metadata.colorPrimaries == 9
        let actual = try LabConverter.lab(
            of: patches.centers(of: read), profile: isDescribed ? profile : read.profileOfPixels())
        let expected = try LabConverter.lab(of: patches.colors, profile: profile)
        let differences = zip(expected, actual).map { $0.difference(from: $1) }
        let worst = try #require(differences.max())
        #expect(worst <= 1, "\(differences)")
    }

    @Test(
        "AVIF and JPEG files whose color space exceeds Display P3 have full chroma, and AVIF files have 10 bits",
        arguments: ["srgb", "p3", "adobe", "prophoto", "bt2020"],
        [ImageFormat.jpeg, .avif].filter(
            ImageCoderRegistry.standard.canEncode))
    func precision(_ space: String, _ format: ImageFormat) throws {
        let image = try reduced(space).image
        let isWide = space != "srgb" && space != "p3"
        let full = "4:4:4"
        let reduced = "4:2:0"
        var encoding = ImageEncoding(format: format, quality: 70)
        let data = try image.encoded(as: encoding)
        #expect(ImageFileDetails(data: data).chromaSubsampling?.description == (isWide ? full : reduced))
        #expect(try ImageInfo(data: data).bitDepth == (isWide && format == .avif ? 10 : 8))
        // The caller can request less, and a conversion to a smaller color space needs no more.
        encoding.chromaSubsampling = .yuv420
        #expect(ImageFileDetails(data: try image.encoded(as: encoding)).chromaSubsampling?.description == reduced)
        for color in [ImageColorSpace.sRGB, .displayP3] {
            let small = try image.encoded(as: ImageEncoding(format: format, quality: 70).with(\.color, color))
            #expect(ImageFileDetails(data: small).chromaSubsampling?.description == reduced)
            #expect(try ImageInfo(data: small).bitDepth == 8)
        }
    }

    @Test(
        "Decoding to Display P3 matches an independent converter",
        .enabled(if: LabConverter.isAvailable, "requires liblcms2-utils"), arguments: ["srgb", "p3"])
    func decodesToDisplayP3(_ profile: String) throws {
        let patches = try GamutPatches(profile: profile)
        let expected = try LabConverter.lab(of: patches.colors, profile: GamutPatches.icc(profile))
        let image = try ImageCoderRegistry.standard.decode(
            patches.file, options: ImageDecodingOptions(color: .displayP3))
        #expect(image.metadata.color == .displayP3)
        let actual = try LabConverter.lab(of: patches.centers(of: image), profile: GamutPatches.icc("p3"))
        #expect(zip(expected, actual).allSatisfy { $0.difference(from: $1) <= 0.7 })
        if profile == "p3" { #expect(patches.centers(of: image) == patches.colors) }
    }

    @Test("Ink is converted to Display P3 through its profile, without the limits of sRGB")
    func ink() throws {
        let fixture = try ColorFixture.named("cmyk.jpg")
        let inP3 = try fixture.decode(ImageDecodingOptions(color: .displayP3))
        let data = try ImageCoderRegistry.standard.encode(inP3, as: .png)
        let back = try ImageCoderRegistry.standard.decode(data)
        #expect(similarity(back.pixels, try fixture.decode().pixels) > 40)
    }

    @Test("Display P3 takes few bytes: code points, or a profile of at most 600 bytes", arguments: formats)
    func compact(_ format: ImageFormat) throws {
        let patches = try GamutPatches(profile: "p3")
        let image = try ImageCoderRegistry.standard.decode(patches.file, options: ImageDecodingOptions(color: .source))
        let plain = DecodedImage(pixels: image.pixels)
        let encoding = ImageEncoding(format: format, quality: 90)
        let tagged = try ImageCoderRegistry.standard.encode(image, as: encoding)
        let untagged = try ImageCoderRegistry.standard.encode(plain, as: encoding)
        #expect(tagged.count - untagged.count <= 600 && tagged != untagged)
        let metadata = try ImageCoderRegistry.standard.decode(tagged).metadata
        let hasCodePoints = [.png, .avif, .heif, .jxl].contains(format)
        #expect((metadata.fileCodePoints?.primaries == 12) == hasCodePoints, "\(metadata)")
        let profile = metadata.iccProfile.map { [UInt8]($0) }
        if !hasCodePoints || format == .png { #expect(profile == CompactProfile.displayP3) }
    }

    @Test("On request, and for formats without color spaces, colors are converted to sRGB")
    func converts() throws {
        let patches = try GamutPatches(profile: "p3")
        let registry = ImageCoderRegistry.standard
        let image = try registry.decode(patches.file, options: ImageDecodingOptions(color: .source))
        let expected = try registry.decode(patches.file).pixels.packedBytes()
        for encoding in [ImageEncoding(format: .png).with(\.color, .sRGB), .bmp, .qoi, .pam] {
            let decoded = try registry.decode(registry.encode(image, as: encoding))
            #expect(decoded.metadata.iccProfile == nil && decoded.metadata.colorPrimaries == nil)
            #expect(decoded.pixels.packedBytes() == expected)
        }
        let wide = try registry.encode(
            DecodedImage(data: patches.file), as: ImageEncoding(format: .png).with(\.color, .displayP3))
        #expect(try registry.decode(wide).metadata.fileCodePoints?.primaries == 12)
        #expect(difference(try registry.decode(wide).pixels.packedBytes(), expected) <= 1)
    }

    @Test("The frames of an animation keep their gamut", arguments: [ImageFormat.apng, .webp])
    func animation(_ format: ImageFormat) throws {
        let patches = try GamutPatches(profile: "p3")
        let registry = ImageCoderRegistry.standard
        let image = try registry.decode(patches.file, options: ImageDecodingOptions(color: .source))
        let animation = try ImageAnimation(
            frames: [image.pixels, PixelPatterns.noise(width: image.size.width, height: image.size.height, seed: 1)].map
            {
                (pixels: $0, duration: Duration.milliseconds(100))
            })
        let animated = DecodedImage(pixels: image.pixels, animation: animation, metadata: image.metadata)
        for color in [ImageColorSpace.source, .sRGB] {
            let data = try registry.encode(
                animated, as: ImageEncoding(format: format, isLossless: true).with(\.color, color))
            let frame = try #require(try registry.decode(data).animation?.frame(at: 0))
            #expect(difference(frame.packedBytes(), try registry.decode(patches.file).pixels.packedBytes()) <= 1)
        }
    }

    @Test(
        "PNG files with gAMA and cHRM keep their colors when they're encoded",
        .enabled(if: ImageCoderRegistry.standard.canEncode(.tiff), "the trait TIFF is off"))
    func numbers() throws {
        for fixture in ColorFixture.all where fixture.file.hasPrefix("chunk") {
            let source = try fixture.decode(ImageDecodingOptions(color: .source))
            let data = try ImageCoderRegistry.standard.encode(source, as: .tiff)
            let back = try ImageCoderRegistry.standard.decode(data)
            #expect(difference(back.pixels.packedBytes(), try fixture.decode().pixels.packedBytes()) <= 1, "\(fixture)")
        }
    }

    @Test("Compact profiles are recognized as their color spaces, and other profiles aren't")
    func matching() throws {
        for (name, space, title) in [
            ("p3", StandardColorSpace.displayP3, "Display P3"), ("adobe", .adobeRGB, "Adobe RGB compatible"),
            ("prophoto", .proPhoto, "ProPhoto RGB"),
        ] {
            #expect(StandardColorSpace(matching: try ColorFixture.profile(name)) == space)
            let compact = try #require(space.profile)
            #expect(compact.count < 600 && StandardColorSpace(matching: compact) == space)
            // The name is stored in UTF-16.
            #expect(Data(compact).firstRange(of: Data(title.utf16.flatMap { [0, UInt8($0)] })) != nil)
        }
        for name in ["scanner", "gray", "cmyk", "srgb"] {
            #expect(StandardColorSpace(matching: try ColorFixture.profile(name)) == nil, "\(name)")
        }
    }
}

@Suite("Color differences")
struct LabColorTests {
    @Test("The differences equal the published test data")
    func published() {
        // The pairs 1, 7, 13, and 25 of the supplement of Sharma, Wu, and Dalal (2005).
        let pairs: [([Double], [Double], Double)] = [
            ([50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425), ([50, 0, 0], [50, -1, 2], 2.3669),
            ([50, -0.001, 2.49], [50, 0.0011, -2.49], 4.7461),
            ([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644),
        ]
        for (first, second, expected) in pairs {
            let left = LabColor(lightness: first[0], a: first[1], b: first[2])
            let right = LabColor(lightness: second[0], a: second[1], b: second[2])
            #expect(abs(left.difference(from: right) - expected) < 0.0002)
        }
    }
}
